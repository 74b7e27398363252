class RoIAlignFunction:
    @staticmethod
    def apply(
        input, rois, output_size, spatial_scale=1.0, sampling_ratio=0, pool_mode="avg", aligned=True
    ):
        import torch
        from torch.nn.modules.utils import _pair

        assert rois.size(1) == 5, "RoI must be (idx, x1, y1, x2, y2)!"
        if pool_mode != "avg":
            message = "No module named 'mmcv._ext': the maximum over a region is a native operator of mmcv"
            raise ModuleNotFoundError(message, name="mmcv._ext")
        height, width = _pair(output_size)
        return torch.ops.torchvision.roi_align(
            input, rois, float(spatial_scale), height, width, int(sampling_ratio), aligned
        )
