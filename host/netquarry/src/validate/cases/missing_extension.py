# failure: native_extension at execute
import deform_conv_cuda
