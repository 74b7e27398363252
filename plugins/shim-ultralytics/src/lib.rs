//! What static analysis cannot see in ultralytics and in the YOLO repositories around it.
//!
//! Each rule states a property of the code that makes leaving something out or replacing it right. None is about a
//! single model.

use netquarry_sdk::shim::{Replacement, RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

/// What ultralytics changes in other packages when it is imported.
const DROPPED_PATCHES: [(&str, &str); 3] = [
    ("cv2.*", "teaches OpenCV file names outside of ASCII on Windows; a block reads and writes no pictures"),
    ("torch.save", "tries again where a file cannot be written; a block writes none"),
    ("PIL.Image.*", "lets Pillow open further formats; a block opens no pictures"),
];

const INSTALLS: &str =
    "installs packages with pip where they are missing; a block imports what it needs and says what is not there";
const PARSES: &str =
    "compares as upstream does, with the copy of packaging that torch carries in the place of setuptools' own";
const DRAWS: &str = "draws feature maps into files for whoever asks with `visualize`, and returns nothing";

const REPLACED: [(&str, &str, &str); 15] = [
    (
        "ultralytics.utils.LOGGER",
        "LOGGER = __import__(\"logging\").getLogger(\"ultralytics\")\n",
        "the same logger, without handlers and colours",
    ),
    (
        "ultralytics.utils.SETTINGS",
        include_str!("../replacements/settings.py"),
        "upstream reads the user's settings from a file that it writes when it is imported; a block writes none and has the \
         defaults, with integrations off",
    ),
    (
        "ultralytics.utils.WEIGHTS_DIR",
        "WEIGHTS_DIR = __import__(\"pathlib\").Path(\"weights\")\n",
        "the default of the user's settings, which upstream keeps in a file",
    ),
    (
        "ultralytics.utils.DATASETS_DIR",
        "DATASETS_DIR = __import__(\"pathlib\").Path(\"datasets\")\n",
        "the default of the user's settings, which upstream keeps in a file",
    ),
    (
        "ultralytics.utils.RUNS_DIR",
        "RUNS_DIR = __import__(\"pathlib\").Path(\"runs\")\n",
        "the default of the user's settings, which upstream keeps in a file",
    ),
    (
        "ultralytics.utils.checks.check_requirements",
        "def check_requirements(*args, **kwargs):\n    return True\n",
        INSTALLS,
    ),
    (
        "ultralytics.utils.checks.check_yaml",
        include_str!("../replacements/check_yaml.py"),
        "upstream also looks for the file in the installed package and on the network; a block is given a file that is there",
    ),
    (
        "ultralytics.nn.text_model.clip",
        include_str!("../replacements/clip.py"),
        "the package stands in no index and is imported by a module that upstream imports only for models that read text; \
         it is imported when it is used",
    ),
    (
        "ultralytics.utils.plotting.feature_visualization",
        "def feature_visualization(*args, **kwargs):\n    return None\n",
        DRAWS,
    ),
    ("yolov5.utils.general.check_version", include_str!("../replacements/check_version.py"), PARSES),
    (
        "yolov5.utils.general.LOGGER",
        "LOGGER = __import__(\"logging\").getLogger(\"yolov5\")\n",
        "the same logger, without handlers",
    ),
    (
        "yolov5.utils.plots.feature_visualization",
        "def feature_visualization(*args, **kwargs):\n    return None\n",
        DRAWS,
    ),
    ("utils.general.check_version", include_str!("../replacements/check_version.py"), PARSES),
    (
        "utils.general.LOGGER",
        "LOGGER = __import__(\"logging\").getLogger(\"yolov5\")\n",
        "the same logger, without handlers",
    ),
    ("utils.plots.feature_visualization", "def feature_visualization(*args, **kwargs):\n    return None\n", DRAWS),
];

pub struct Ultralytics;

impl Plugin for Ultralytics {
    const NAME: &str = "shim-ultralytics";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("logger", include_str!("../examples/logger.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Ultralytics {
    fn tables(&self) -> Result<Tables, Refusal> {
        Ok(Tables {
            packages: ["ultralytics", "yolov5", "models", "utils"].map(str::to_owned).to_vec(),
            dropped_members: DROPPED_PATCHES.map(Rule::from).to_vec(),
            replaced_definitions: REPLACED.map(Replacement::from).to_vec(),
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(Ultralytics as RepoShim);
