//! Families of models, by NN-DUP's rules (`ab/dup/utils/family.py` of version 2.2.4).

/// The family that the beginning of a name means, in NN-DUP's order; `None` where it leaves the decision to the code.
const NAME_PREFIXES: [(&str, Option<&str>); 12] = [
    ("Fractal", Some("fractal")),
    ("ResNet", Some("resnet")),
    ("VGG", Some("vgg")),
    ("DenseNet", Some("densenet")),
    ("EfficientNet", None),
    ("MobileNet", Some("mobile")),
    ("Transformer", Some("transformer")),
    ("BERT", Some("transformer")),
    ("GPT", Some("transformer")),
    ("RAG", Some("generic")),
    ("Rag", Some("generic")),
    ("rag", Some("generic")),
];

/// Pieces of code that tell a family, in NN-DUP's order.
const CODE_CUES: [(&[&str], &str); 6] = [
    (&["fractalblock", "fractalunit", "fractal_fn"], "fractal"),
    (&["transformerencoderlayer", "multiheadattention"], "transformer"),
    (&["depthwise", "mobilenet"], "mobile"),
    (&["resnet", "residual"], "resnet"),
    (&["dense"], "densenet"),
    (&["vgg"], "vgg"),
];

/// The family of a block. `code` is asked for only where the name does not tell.
pub fn family(name: &str, code: impl FnOnce() -> String) -> &'static str {
    let by_name = NAME_PREFIXES.iter().find_map(|(prefix, family)| family.filter(|_| name.starts_with(prefix)));
    by_name.unwrap_or_else(|| family_of_code(&code().to_lowercase()))
}

fn family_of_code(code: &str) -> &'static str {
    let found = CODE_CUES.iter().find(|(cues, _)| cues.iter().any(|cue| code.contains(cue)));
    found.map_or("generic", |(_, family)| family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_before_code_does() {
        let vgg = || "import VGG".to_owned();
        assert_eq!(family("ResNet50", vgg), "resnet");
        assert_eq!(family("rag-1234", vgg), "generic");
        assert_eq!(family("resnet50", vgg), "vgg");
        assert_eq!(family("EfficientNet", || "Residual dense".to_owned()), "resnet");
        assert_eq!(family("Net", || "x".to_owned()), "generic");
    }
}
