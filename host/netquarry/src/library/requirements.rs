//! From the packages that a bundle imports to the distributions that provide them.

use std::collections::BTreeSet;

use super::distribution_name::normalised;

/// Distributions whose import package bears another name. Sorted by package.
const DISTRIBUTIONS: [(&str, &str); 16] = [
    ("Crypto", "pycryptodome"),
    ("PIL", "Pillow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python-headless"),
    ("dateutil", "python-dateutil"),
    ("flash_attn", "flash-attn"),
    ("mpl_toolkits", "matplotlib"),
    ("open_clip", "open-clip-torch"),
    ("pkg_resources", "setuptools"),
    ("segmentation_models_pytorch", "segmentation-models-pytorch"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("torch_geometric", "torch-geometric"),
    ("torch_scatter", "torch-scatter"),
    ("yaml", "PyYAML"),
];

/// The PEP 508 requirements of a bundle that imports these top-level packages, sorted. Every bundle needs torch: it is a
/// class of torch's.
pub fn of<'a>(packages: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut requirements: BTreeSet<String> = packages.map(|package| distribution(package).to_owned()).collect();
    requirements.insert("torch".to_owned());
    requirements.into_iter().collect()
}

/// Those of `requirements` that only the name of an import stands for: none of the distributions that are `known`, by
/// their normalised names, is called so. That torch is torch is no assumption.
pub fn assumed(requirements: &[String], known: &BTreeSet<&str>) -> Vec<String> {
    let is_known = |name: &str| name == "torch" || known.contains(normalised(name).as_str());
    requirements.iter().filter(|requirement| !is_known(requirement)).cloned().collect()
}

/// The distribution that usually provides a package.
pub fn distribution(package: &str) -> &str {
    match DISTRIBUTIONS.binary_search_by_key(&package, |(package, _)| package) {
        Ok(position) => DISTRIBUTIONS[position].1,
        Err(_) => package,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_become_distributions() {
        assert!(DISTRIBUTIONS.is_sorted_by_key(|(package, _)| package));
        let requirements = of(["PIL", "numpy", "torch"].into_iter());
        assert_eq!(requirements, ["Pillow", "numpy", "torch"]);
        assert_eq!(assumed(&requirements, &["pillow"].into()), ["numpy"]);
    }
}
