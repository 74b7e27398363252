from __future__ import annotations

import torch.nn as nn


class Lines(nn.Module):
	def forward(self, x: Späßchen) -> "ĦĦ":
		"""Ünïcode
		docstring."""
		y = x; z = y
		return z;

	def extra_repr(self):
		return "𝛼"
