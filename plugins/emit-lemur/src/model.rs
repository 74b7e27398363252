//! The text of a model in LEMUR's form.

use std::fmt::Write as _;

use netquarry_sdk::emit::{Block, ParameterKind};

use crate::python;
use crate::wrapping::{Head, Plan, Rule, Stem};

/// What of Python's own the added text uses: it stands behind the bundle, whose own definitions of these it would find.
pub(crate) const BUILTINS: [&str; 11] =
    ["dict", "hasattr", "isinstance", "list", "map", "max", "min", "next", "super", "tuple", "vars"];

/// The bundle's text between a header and what makes it a model.
pub(crate) fn text(block: &Block, code: &str, plan: &Plan) -> String {
    let mut text = header(block, plan);
    text.push_str(code.trim_end_matches('\n'));
    text.push_str("\n\n\n");
    text.push_str(
        "# --- added by NetQuarry: what makes an image classifier of the block, in the form of LEMUR's models ---\n",
    );
    text.push_str("import torch as _netquarry_torch\n\n\n");
    text.push_str(&construction(block));
    text.push_str(if plan.rule == Rule::Block { STEM } else { IMAGES });
    text.push_str(match plan.head {
        Head::Vector { .. } => VECTOR_HEAD,
        Head::Maps { .. } => MAPS_HEAD,
    });
    text.push_str(FIRST_TENSOR);
    text.push_str(HYPERPARAMETERS);
    text.push_str(&net(plan));
    text
}

/// The text is comments only: a bundle may begin with a docstring or an import from `__future__`.
fn header(block: &Block, plan: &Plan) -> String {
    let source = &block.provenance;
    let version = source.version.as_deref().or(source.commit.as_deref()).unwrap_or_default();
    let (rule, why) = explanation(plan);
    let license = block.license.as_deref().unwrap_or("not known");
    let lines = [
        format!("{} as an image classifier, in the form of LEMUR's models", block.id),
        String::new(),
        format!("Source: {} {version}", source.source),
        format!("File: {}, lines {} to {}", source.file, source.first_line, source.last_line),
        format!("Licence: of the block and of what it needs: {license}; of what NetQuarry added: MIT OR Apache-2.0"),
        format!("Wrapping rule: {rule}"),
        format!("Why: {why}"),
        "Added by NetQuarry: this header, and what stands behind the last line that says so".to_owned(),
    ];
    let comment = |line: String| {
        let line: String = line.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
        format!("# {line}").trim_end().to_owned() + "\n"
    };
    let mut header: String = lines.into_iter().map(comment).collect();
    header.push('\n');
    header
}

fn explanation(plan: &Plan) -> (&'static str, String) {
    let takes: Vec<String> = plan.stems.iter().map(|stem| format!("{:?}", stem.shape)).collect();
    let takes = takes.join(" and ");
    let gives = match plan.head {
        Head::Vector { features } => format!("a vector of {features}"),
        Head::Maps { channels, .. } => format!("{channels} channels with places"),
    };
    match plan.rule {
        Rule::Network => (
            "network (the block, and a linear map onto the classes)",
            format!("it was seen to make {gives} of an image {takes}"),
        ),
        Rule::Backbone => (
            "backbone (the block, and a head that pools over all places)",
            format!("it was seen to make {gives} of an image {takes}"),
        ),
        Rule::Block => (
            "block (a stem that makes what the block takes, the block, and a head)",
            format!("it was seen to make {gives} of {takes}, which is no image or comes back as one"),
        ),
    }
}

/// In a function of its own, the names that an expression may use stand for torch's own modules whatever the bundle has
/// under them, and no name with two underscores is mangled as in a class.
fn construction(block: &Block) -> String {
    let arguments = &block.constructor_arguments;
    let is_positional = |name: &str| {
        let is_it = |kind: ParameterKind| matches!(kind, ParameterKind::PositionalOnly);
        block.constructor_parameters.iter().any(|parameter| parameter.name == name && is_it(parameter.kind))
    };
    let expression_of = |name: &str| arguments.iter().find(|(each, _)| each == name).map(|(_, text)| text.clone());
    let positional = block.constructor_parameters.iter().filter(|parameter| is_positional(&parameter.name));
    let mut texts: Vec<String> = positional.filter_map(|parameter| expression_of(&parameter.name)).collect();
    let named = arguments.iter().filter(|(name, _)| !is_positional(name));
    texts.extend(named.map(|(name, text)| format!("{name}={text}")));
    let arguments = texts.join(", ");

    let mut text = String::new();
    let class = if block.name == "Net" { "_NetquarryBlock" } else { block.name.as_str() };
    if block.name == "Net" {
        text.push_str("# The model below takes the name.\n_NetquarryBlock = Net\n\n\n");
    }
    text.push_str("def _netquarry_block():\n    \"\"\"The block, constructed as in validation.\"\"\"\n");
    for (name, import) in SCOPE {
        if python::occurrences(&arguments, name) > 0 {
            writeln!(text, "    {import}").expect("writing to a string does not fail");
        }
    }
    writeln!(text, "    return {class}({arguments})\n\n").expect("writing to a string does not fail");
    text
}

fn net(plan: &Plan) -> String {
    let stems: String = plan.stems.iter().map(|stem| stem_text(plan.rule, stem)).collect();
    let head = match plan.head {
        Head::Vector { features } => format!("_NetquarryHead({features}, out_shape[0])"),
        Head::Maps { channels, axis } => format!("_NetquarryHead({channels}, {axis}, out_shape[0])"),
    };
    let samples = if plan.arguments.contains("samples") { "        samples = x.shape[0]\n" } else { "" };
    NET.replace("{stems}", &stems)
        .replace("{head}", &head)
        .replace("{samples}", samples)
        .replace("{arguments}", &plan.arguments)
}

fn stem_text(rule: Rule, stem: &Stem) -> String {
    let Stem { shape, channels, channels_last, grid: [rows, columns] } = stem;
    let arguments = if rule == Rule::Block {
        let shape: String = shape.iter().map(|size| format!("{size}, ")).collect();
        let channels_last = if *channels_last { "True" } else { "False" };
        format!("_NetquarryStem(in_shape, {channels}, ({rows}, {columns}), ({}), {channels_last})", shape.trim_end())
    } else {
        format!("_NetquarryImages(in_shape, {}, ({}, {}))", shape[0], shape[1], shape[2])
    };
    format!("            {arguments},\n")
}

/// The names that an argument may use beside those of the bundle, and what they stand for.
const SCOPE: [(&str, &str); 4] = [
    ("functools", "import functools"),
    ("types", "import types"),
    ("torch", "import torch"),
    ("nn", "from torch import nn"),
];

const IMAGES: &str = r#"class _NetquarryImages(_netquarry_torch.nn.Module):
    """Images as the block was seen to take them: of so many channels, and of this size."""

    def __init__(self, in_shape, channels, size):
        super().__init__()
        self.size = size
        is_same = in_shape[1] == channels
        self.channels = _netquarry_torch.nn.Identity() if is_same else _netquarry_torch.nn.Conv2d(in_shape[1], channels, 1)

    def forward(self, images):
        """Images of another size are resized."""
        if tuple(images.shape[2:]) != self.size:
            resize = _netquarry_torch.nn.functional.interpolate
            images = resize(images, self.size, mode="bilinear", align_corners=False, antialias=True)
        return self.channels(images)


"#;

const STEM: &str = r#"class _NetquarryStem(_netquarry_torch.nn.Module):
    """Makes of images what the block was seen to take: so many channels at the places of a grid, in this shape."""

    def __init__(self, in_shape, channels, grid, shape, channels_last):
        super().__init__()
        nn = _netquarry_torch.nn
        stride = 2 if min(in_shape[2:]) >= 2 * max(grid) else 1
        self.layers = nn.Sequential(
            nn.Conv2d(in_shape[1], 32, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(grid),
            nn.Conv2d(32, channels, 1),
        )
        self.shape = shape
        self.channels_last = channels_last

    def forward(self, images):
        """A tensor of the shape, for each image."""
        features = self.layers(images).flatten(2)
        if self.channels_last:
            features = features.transpose(1, 2)
        return features.reshape(-1, *self.shape).contiguous()


"#;

const VECTOR_HEAD: &str = r#"class _NetquarryHead(_netquarry_torch.nn.Module):
    """Maps a vector onto the classes."""

    def __init__(self, features, classes):
        super().__init__()
        self.linear = _netquarry_torch.nn.Linear(features, classes)

    def forward(self, features):
        """A score for each class."""
        return self.linear(features.float())


"#;

/// A mean alone would say nothing of what is normalised over the places: it is the same for every image.
const MAPS_HEAD: &str = r#"class _NetquarryHead(_netquarry_torch.nn.Module):
    """Maps the mean and the maximum of each channel onto the classes; the mean of what is normalised is a constant."""

    def __init__(self, channels, axis, classes):
        super().__init__()
        self.axis = axis
        self.linear = _netquarry_torch.nn.Linear(2 * channels, classes)

    def forward(self, features):
        """A score for each class."""
        places = features.float().movedim(self.axis, 1).flatten(2)
        return self.linear(_netquarry_torch.cat([places.mean(2), places.amax(2)], dim=1))


"#;

const FIRST_TENSOR: &str = r#"def _netquarry_features(output):
    """The first floating-point tensor of an output, which may be nested, and may be so in training mode only."""
    if isinstance(output, _netquarry_torch.Tensor):
        return output if output.is_floating_point() else None
    values = output
    if isinstance(output, dict):
        values = output.values()
    elif hasattr(output, "__dataclass_fields__"):
        values = vars(output).values()
    elif not isinstance(output, (list, tuple)):
        return None
    found = map(_netquarry_features, values)
    return next((each for each in found if each is not None), None)


"#;

const HYPERPARAMETERS: &str = r#"def supported_hyperparameters():
    return {'lr', 'momentum'}


"#;

const NET: &str = r#"class Net(_netquarry_torch.nn.Module):
    """The block as an image classifier."""

    def __init__(self, in_shape: tuple, out_shape: tuple, prm: dict, device) -> None:
        super().__init__()
        self.device = device
        self.learning_rate = prm['lr']
        self.momentum = prm['momentum']
        self.criterion = _netquarry_torch.nn.CrossEntropyLoss()
        self.optimizer = None
        self.stems = _netquarry_torch.nn.ModuleList([
{stems}        ])
        self.block = _netquarry_block()
        self.head = {head}

    def forward(self, x):
        """A score for each class of each image."""
{samples}        features = [stem(x) for stem in self.stems]
        output = self.block({arguments})
        return self.head(_netquarry_features(output))

    def train_setup(self, prm):
        """Called once, before the first epoch."""
        self.to(self.device)
        self.learning_rate, self.momentum = prm['lr'], prm['momentum']
        self.optimizer = _netquarry_torch.optim.SGD(self.parameters(), lr=self.learning_rate, momentum=self.momentum)

    def learn(self, train_data):
        """One epoch."""
        self.train()
        for inputs, labels in train_data:
            inputs, labels = inputs.to(self.device), labels.to(self.device)
            if labels.shape[0] == 1:
                # What normalises over the samples of a batch needs more than one: the last batch may have a single one.
                inputs, labels = inputs.repeat(2, 1, 1, 1), labels.repeat(2)
            self.optimizer.zero_grad()
            loss = self.criterion(self(inputs), labels)
            loss.backward()
            _netquarry_torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm=1.0)
            self.optimizer.step()
"#;
