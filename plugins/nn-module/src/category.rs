//! The category of a block.
//!
//! Rules are asked in this order, and the first that finds a sign decides. What a class is called says most; what it
//! inherits is sure; what it refers to decides where the name is silent.
//!
//! 1. **Utility**, for a module of data transforms (`torchvision.transforms`): whatever stands there prepares data.
//! 2. **Loss**: inherits one of torch's losses, or is called one (`FocalLoss`, `LabelSmoothingCrossEntropy`).
//! 3. **Normalisation**: inherits one of torch's, or the last thing that its name says is "norm" (`LayerNorm2d`,
//!    `BatchNormAct2d`) and nothing before it is a layer or a block (`ConvNorm` is a convolution).
//! 4. **Pooling**: inherits one of torch's, or is called pooling (`AttentionPool2d` too), or aligns regions
//!    (`RoIAlign`).
//! 5. **Attention**: inherits `MultiheadAttention`, or is called attention (`WindowAttention`, `CoordAttn`) and not a
//!    part of a network, or bears the name of one of the attentions over channels and places (`SqueezeExcite`,
//!    `CbamModule`), or calls `scaled_dot_product_attention`.
//! 6. **Architecture**: a whole network, not called a part of one. It has the methods of one (`forward_features`,
//!    `reset_classifier`), takes the number of classes, or it or an ancestor is called one (`ResNet`, `FasterRCNN`).
//! 7. **Transformer block**: inherits one of torch's, or is a part of a network (`Block`, `Layer`, `Stage`) and called
//!    a transformer or made with attention.
//! 8. **Convolution**: inherits one of torch's, is called so (`ConvBnAct`, `InvertedResidual`), or is made with
//!    convolutions and not called something else (`PatchEmbed`, a head).
//! 9. **Utility**: everything else (`DropPath`, `Mlp`, activations, embeddings).

use netquarry_sdk::discovery::{Category, ClassDescription};

use crate::words::words;

/// The category of a class and what put it there, as the end of a sentence.
pub fn categorise(class: &ClassDescription) -> (Category, String) {
    type Rule = fn(&Signs<'_>) -> Option<String>;
    const RULES: [(Category, Rule); 7] = [
        (Category::Loss, loss),
        (Category::Normalisation, normalisation),
        (Category::Pooling, pooling),
        (Category::Attention, attention),
        (Category::Architecture, architecture),
        (Category::TransformerBlock, transformer_block),
        (Category::Convolution, convolution),
    ];
    if is_data_transform(class) {
        return (Category::Utility, format!("{} prepares data", class.module));
    }
    let signs = Signs::of(class);
    let found = RULES.into_iter().find_map(|(category, rule)| Some((category, rule(&signs)?)));
    found.unwrap_or_else(|| (Category::Utility, "no sign of a more special category".to_owned()))
}

/// What the rules look at.
struct Signs<'a> {
    class: &'a ClassDescription,
    /// The words of the name in lower case: `layer`, `norm`, `2d`.
    words: Vec<String>,
    /// The position of the last word that says what the class is: not `2d`, `v2`, `module` or `act`.
    head: Option<usize>,
}

/// Words that say how something is done or which variant it is, and not what it is.
const QUALIFIERS: [&str; 23] = [
    "module",
    "act",
    "activation",
    "same",
    "export",
    "fast",
    "fp",
    "no",
    "bias",
    "exp",
    "tf",
    "custom",
    "simple",
    "cl",
    "nchw",
    "nhwc",
    "base",
    "latent",
    "tlu",
    "features",
    "feature",
    "extractor",
    "distilled",
];

/// Words for the parts of a network.
const PARTS: [&str; 17] = [
    "block",
    "layer",
    "layers",
    "stage",
    "unit",
    "cell",
    "bottleneck",
    "residual",
    "stem",
    "branch",
    "head",
    "heads",
    "encoder",
    "decoder",
    "predictor",
    "classifier",
    "aux",
];

/// Words before "norm" that make it an attribute of something else.
const LAYERS: [&str; 8] = ["conv", "convolution", "linear", "mlp", "attention", "attn", "block", "stage"];

/// Words for attention over sequences.
const ATTENTIONS: [&str; 11] =
    ["attention", "attentions", "attn", "mha", "msa", "mhsa", "mqa", "xca", "gpsa", "shsa", "mla"];

/// Words for attention over channels and places.
const EXCITATIONS: [&str; 8] = ["excite", "excitation", "cbam", "se", "ese", "eca", "ceca", "kernel"];

impl<'a> Signs<'a> {
    fn of(class: &'a ClassDescription) -> Self {
        let words = words(&class.name);
        let head = head(&words);
        Self { class, words, head }
    }

    /// The last word that says what the class is.
    fn head(&self) -> &str {
        self.head.map_or("", |head| &self.words[head])
    }

    /// The words before the last one that says what the class is.
    fn before_head(&self) -> &[String] {
        &self.words[..self.head.unwrap_or(0)]
    }

    /// The first of these words that the name has.
    fn word<'w>(&self, wanted: &[&'w str]) -> Option<&'w str> {
        wanted.iter().copied().find(|wanted| self.words.iter().any(|word| word == wanted))
    }

    fn has_words(&self, first: &str, second: &str) -> bool {
        self.words.windows(2).any(|pair| pair[0] == first && pair[1] == second)
    }

    /// The first ancestor of `torch` whose name fits.
    fn torch_ancestor(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let mut paths = self.class.ancestors.iter().map(|ancestor| ancestor.path.as_str());
        let path = paths.find(|path| path.starts_with("torch.") && fits(last(path)))?;
        Some(format!("it inherits {path}"))
    }

    /// The first name that the class refers to, attributes aside, whose last part fits.
    fn reference(&self, fits: impl Fn(&str) -> bool) -> Option<&'a str> {
        self.class.references.iter().map(String::as_str).find(|reference| fits(last(reference)))
    }

    fn has_method(&self, name: &str) -> bool {
        let inherited = self.class.ancestors.iter().flat_map(|ancestor| &ancestor.methods);
        self.class.methods.iter().chain(inherited).any(|method| method.name == name)
    }

    /// Whether the constructor that Python would find takes this parameter.
    fn constructor_takes(&self, parameter: &str) -> bool {
        let bodies =
            std::iter::once(&self.class.methods).chain(self.class.ancestors.iter().map(|ancestor| &ancestor.methods));
        // Of several definitions in one body the last one stays.
        let constructor = bodies.into_iter().find_map(|body| body.iter().rfind(|method| method.name == "__init__"));
        constructor.is_some_and(|constructor| constructor.parameters.iter().any(|own| own == parameter))
    }

    fn named(&self) -> String {
        format!("it is named {}", self.class.name)
    }

    fn is_part(&self) -> bool {
        self.word(&PARTS).is_some()
    }
}

/// The position of the last word that says what something is.
fn head(words: &[String]) -> Option<usize> {
    let is_qualifier = |word: &String| {
        QUALIFIERS.contains(&word.as_str()) || word.len() < 2 || word.starts_with(|first: char| first.is_ascii_digit())
    };
    words.iter().rposition(|word| !is_qualifier(word))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Whether the module is one of data transforms: a part of its name says so.
fn is_data_transform(class: &ClassDescription) -> bool {
    class.module.split('.').any(|part| part == "transforms" || part.ends_with("_transforms"))
}

fn loss(signs: &Signs<'_>) -> Option<String> {
    let is_named = signs.word(&["loss", "losses", "criterion", "entropy"]).is_some();
    signs.torch_ancestor(|name| name.ends_with("Loss")).or_else(|| is_named.then(|| signs.named()))
}

fn normalisation(signs: &Signs<'_>) -> Option<String> {
    let is_of_something = signs.before_head().iter().any(|word| LAYERS.contains(&word.as_str()));
    let is_named = matches!(signs.head(), "norm" | "batchnorm" | "layernorm" | "abn" | "grn") && !is_of_something;
    signs.torch_ancestor(|name| name.contains("Norm")).or_else(|| is_named.then(|| signs.named()))
}

fn pooling(signs: &Signs<'_>) -> Option<String> {
    let is_alignment = signs.head() == "align" && signs.word(&["roi"]).is_some();
    let is_pooling = signs.word(&["pool", "pooling", "pooler"]).is_some()
        && !signs.is_part()
        && !is_network(&signs.words)
        && !signs.head().ends_with("former");
    let is_named = is_alignment || is_pooling;
    signs.torch_ancestor(|name| name.contains("Pool")).or_else(|| is_named.then(|| signs.named()))
}

fn attention(signs: &Signs<'_>) -> Option<String> {
    if let Some(inherited) = signs.torch_ancestor(|name| name == "MultiheadAttention") {
        return Some(inherited);
    }
    let head = signs.head();
    if ATTENTIONS.contains(&head) && signs.word(&["block", "layer", "stage"]).is_none() {
        return Some(signs.named());
    }
    if signs.is_part() || is_network(&signs.words) || signs.word(&["extract"]).is_some() {
        return None;
    }
    let compound = [("non", "local"), ("global", "context")];
    let is_compound = compound.into_iter().any(|(first, second)| head == second && signs.has_words(first, second));
    if is_compound || EXCITATIONS.contains(&head) || signs.word(&ATTENTIONS).is_some() {
        return Some(signs.named());
    }
    let called = signs.reference(|name| name == "scaled_dot_product_attention")?;
    Some(format!("it calls {called}"))
}

fn architecture(signs: &Signs<'_>) -> Option<String> {
    const METHODS: [&str; 4] = ["reset_classifier", "get_classifier", "forward_features", "forward_head"];
    if signs.is_part() {
        return None;
    }
    if let Some(method) = METHODS.into_iter().find(|method| signs.has_method(method)) {
        return Some(format!("it has {method}, as a whole network has"));
    }
    if signs.constructor_takes("num_classes") && signs.word(&["task", "embed"]).is_none() {
        return Some("its constructor takes num_classes".to_owned());
    }
    if is_network(&signs.words) {
        return Some(signs.named());
    }
    let mut ancestors = signs.class.ancestors.iter().filter(|ancestor| !ancestor.external);
    let network = ancestors.find(|ancestor| is_network(&words(last(&ancestor.path))))?;
    Some(format!("it inherits {}, a network by its name", network.path))
}

/// Whether these are the words of a network's name: `ResNet`, `PoolFormer`, `FasterRCNN`, `FeaturePyramidNetwork`.
fn is_network(words: &[String]) -> bool {
    const NETWORKS: [&str; 12] =
        ["net", "network", "rcnn", "cnn", "unet", "vit", "backbone", "raft", "fpn", "darknet", "vgg", "model"];
    let head = head(words).map_or("", |head| &words[head]);
    let is_part = words.iter().any(|word| PARTS.contains(&word.as_str()));
    let has_ending = head.len() > 4 && ["net", "former"].iter().any(|ending| head.ends_with(ending));
    !is_part && (NETWORKS.contains(&head) || (has_ending && head != "transformer"))
}

fn transformer_block(signs: &Signs<'_>) -> Option<String> {
    if let Some(inherited) = signs.torch_ancestor(|name| name.starts_with("Transformer")) {
        return Some(inherited);
    }
    if signs.word(&["head", "heads", "predictor", "classifier", "stem", "embed", "embedding", "mlp"]).is_some() {
        return None;
    }
    let is_block = signs.word(&["block", "blocks", "layer", "layers", "stage", "encoder", "decoder"]).is_some();
    let transformers = ["transformer", "vit", "swin", "bert", "xcit", "llama"];
    let is_transformer = signs.word(&transformers).is_some() || signs.words.iter().any(|word| word.ends_with("former"));
    if signs.head() == "transformer" || (is_block && (is_transformer || signs.word(&ATTENTIONS).is_some())) {
        return Some(signs.named());
    }
    let is_attention = |name: &str| {
        name == "scaled_dot_product_attention"
            || (name.starts_with(char::is_uppercase)
                && words(name).iter().any(|word| ATTENTIONS.contains(&word.as_str())))
    };
    let attention = signs.reference(is_attention)?;
    is_block.then(|| format!("it is a part of a network and is made with {attention}"))
}

fn convolution(signs: &Signs<'_>) -> Option<String> {
    if let Some(inherited) = signs.torch_ancestor(|name| name.contains("Conv")) {
        return Some(inherited);
    }
    let is_block = signs.word(&["bottleneck"]).is_some()
        || signs.has_words("inverted", "residual")
        || signs.has_words("basic", "block");
    if is_block || signs.word(&["conv", "convs", "convolution", "dwconv", "deconv", "mbconv"]).is_some() {
        return Some(signs.named());
    }
    const OTHERS: [&str; 25] = [
        "embed",
        "embeds",
        "embedding",
        "patch",
        "head",
        "heads",
        "predictor",
        "classifier",
        "mlp",
        "ffn",
        "task",
        "relu",
        "token",
        "tokens",
        "bias",
        "pos",
        "position",
        "positional",
        "encoding",
        "enc",
        "drop",
        "scale",
        "anchor",
        "cpe",
        "aux",
    ];
    if signs.word(&OTHERS).is_some() {
        return None;
    }
    let is_convolution =
        |name: &str| words(name).iter().any(|word| matches!(word.as_str(), "conv" | "convolution" | "dwconv"));
    signs.reference(is_convolution).map(|reference| format!("it is made with {reference}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::class;

    #[test]
    fn names_decide() {
        let cases = [
            ("FocalLoss", Category::Loss),
            ("LabelSmoothingCrossEntropy", Category::Loss),
            ("LayerNorm2d", Category::Normalisation),
            ("BatchNormAct2d", Category::Normalisation),
            ("EvoNorm2dS0a", Category::Normalisation),
            ("ConvNorm", Category::Convolution),
            ("ConvBnAct", Category::Convolution),
            ("DeformConv2d", Category::Convolution),
            ("AttentionPool2d", Category::Pooling),
            ("AvgPool2dSame", Category::Pooling),
            ("MultiScaleRoIAlign", Category::Pooling),
            ("AsymmetricLossMultiLabel", Category::Loss),
            ("EvaBlockPostNorm", Category::Utility),
            ("EfficientNetFeatures", Category::Architecture),
            ("RepViTBlock", Category::TransformerBlock),
            ("InvertedResidual", Category::Convolution),
            ("WindowAttention", Category::Attention),
            ("MultiHeadSelfAttention", Category::Attention),
            ("SqueezeExcite", Category::Attention),
            ("SEModule", Category::Attention),
            ("CbamModule", Category::Attention),
            ("MaskUnitAttention", Category::Attention),
            ("PoolingVisionTransformer", Category::TransformerBlock),
            ("PoolFormer", Category::Architecture),
            ("FasterRCNN", Category::Architecture),
            ("ResNet", Category::Architecture),
            ("SwinTransformerBlock", Category::TransformerBlock),
            ("BertLayer", Category::TransformerBlock),
            ("TransformerEncoderLayer", Category::TransformerBlock),
            ("DropPath", Category::Utility),
            ("PatchEmbed", Category::Utility),
            ("Mlp", Category::Utility),
            ("PReLU", Category::Utility),
        ];
        for (name, category) in cases {
            assert_eq!(categorise(&class(name)).0, category, "{name}");
        }
    }

    #[test]
    fn what_a_class_inherits_is_sure() {
        let cases = [
            ("torch.nn.modules.loss._WeightedLoss", Category::Loss),
            ("torch.nn.GroupNorm", Category::Normalisation),
            ("torch.nn.AvgPool2d", Category::Pooling),
            ("torch.nn.MultiheadAttention", Category::Attention),
            ("torch.nn.TransformerEncoderLayer", Category::TransformerBlock),
            ("torch.nn.Conv2d", Category::Convolution),
        ];
        for (ancestor, category) in cases {
            let mut class = class("Custom");
            class.ancestors[0].path = ancestor.to_owned();
            assert_eq!(categorise(&class).0, category, "{ancestor}");
        }
    }

    #[test]
    fn what_a_class_refers_to_decides_where_its_name_is_silent() {
        let with = |name: &str, references: &[&str]| {
            let mut class = class(name);
            class.references = references.iter().map(|reference| (*reference).to_owned()).collect();
            categorise(&class).0
        };
        assert_eq!(with("Block", &["Attention", "Mlp", "nn.LayerNorm"]), Category::TransformerBlock);
        assert_eq!(with("Block", &["nn.Conv2d", "nn.ReLU"]), Category::Convolution);
        assert_eq!(with("Bottleneck", &["nn.Conv2d"]), Category::Convolution);
        assert_eq!(with("Mixer", &["F.scaled_dot_product_attention"]), Category::Attention);
        assert_eq!(with("PatchEmbed", &["nn.Conv2d"]), Category::Utility);
    }

    #[test]
    fn a_network_is_known_by_its_methods_and_its_classes() {
        let mut features = class("Xception71");
        features.methods[0].name = "forward_features".to_owned();
        assert_eq!(categorise(&features).0, Category::Architecture);
        let mut head = class("ClassifierHead");
        head.methods[0].name = "__init__".to_owned();
        head.methods[0].parameters.push("num_classes".to_owned());
        assert_eq!(categorise(&head).0, Category::Utility);
        head.name = "RAFTLike".to_owned();
        assert_eq!(categorise(&head).0, Category::Architecture);
    }
}
