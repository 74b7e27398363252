//! Where the bundles of a library lie.

/// A folder of bundles. The names of files are unique over all of them, so that a bundle can move from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleFolder {
    /// Promoted, and no duplicates: what the library offers.
    Blocks,
    /// Promoted, and another block stands for them.
    Duplicates,
    /// The others.
    Failed,
}

impl BundleFolder {
    /// That of a bundle by its path in the library; none for a path that is no bundle's.
    pub fn of(bundle: &str) -> Option<Self> {
        let (folder, _) = bundle.split_once('/')?;
        Self::named(folder)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Blocks, Self::Duplicates, Self::Failed].into_iter().find(|folder| folder.name() == name)
    }

    /// Its name in the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Duplicates => "duplicates",
            Self::Failed => "failed",
        }
    }

    /// The path of a bundle in this folder, wherever it lay.
    pub fn path_of(self, bundle: &str) -> String {
        let file = bundle.rsplit_once('/').map_or(bundle, |(_, file)| file);
        format!("{}/{file}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_moves_with_its_name() {
        for folder in [BundleFolder::Blocks, BundleFolder::Duplicates, BundleFolder::Failed] {
            let path = folder.path_of("blocks/Mlp__a_b.py");
            assert!(path.ends_with("/Mlp__a_b.py"), "{path}");
            assert_eq!(BundleFolder::of(&path), Some(folder));
        }
        assert_eq!(BundleFolder::of("specs/A.py"), None);
        assert_eq!(BundleFolder::of("blocks"), None);
    }
}
