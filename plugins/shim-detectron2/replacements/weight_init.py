class weight_init:
    @staticmethod
    def c2_xavier_fill(module):
        import torch

        torch.nn.init.kaiming_uniform_(module.weight, a=1)
        if module.bias is not None:
            torch.nn.init.constant_(module.bias, 0)

    @staticmethod
    def c2_msra_fill(module):
        import torch

        torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if module.bias is not None:
            torch.nn.init.constant_(module.bias, 0)
