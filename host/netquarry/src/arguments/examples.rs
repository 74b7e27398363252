//! What stands below the options of a command's help.

pub(super) const RUN: &str = "\
Examples:
  netquarry run
  netquarry run --corpus my-corpus.json --out library --gate forward
  netquarry run --source timm=../my-fork-of-timm --python ../venv/bin/python

Exit status: 0 done; 1 done, but blocks stayed below the gate that was asked for; 2 could not do it, or not all of it.";

pub(super) const FETCH: &str = "\
Examples:
  netquarry fetch
  netquarry fetch --corpus paper-pypi --format json

Nothing is written to the output folder; options of later stages, such as --gate or --out, change nothing here.";

pub(super) const INDEX: &str = "\
Examples:
  netquarry index
  netquarry index --index force

Nothing is written to the output folder; options of later stages, such as --gate or --out, change nothing here.";

pub(super) const DISCOVER: &str = "\
Examples:
  netquarry discover
  netquarry discover --discover discover-nn-module --format json

Nothing is written to the output folder; options of later stages, such as --gate or --out, change nothing here.";

pub(super) const RESOLVE: &str = "\
Examples:
  netquarry resolve
  netquarry resolve --keep-import transformers

Nothing is written to the output folder; options of later stages, such as --gate or --out, change nothing here.";

pub(super) const ASSEMBLE: &str = "\
Examples:
  netquarry assemble
  netquarry assemble --format json

Nothing is written to the output folder; options of later stages, such as --gate or --out, change nothing here.";

pub(super) const CURATE: &str = "\
Examples:
  netquarry curate
  netquarry curate --gate forward

Nothing is written to the output folder: `emit` and `run` do that.";

pub(super) const EMIT: &str = "\
Examples:
  netquarry emit
  netquarry emit --out library
  netquarry emit --emit emit-neutral-spec,emit-nn-gpt,emit-lemur    Models for LEMUR and data for NN-GPT too

The exit status is that of `netquarry run`.";

pub(super) const SHOW: &str = "\
Examples:
  netquarry show DropPath
  netquarry show timm.layers.drop.DropPath --code > my_drop_path.py
  netquarry show library/blocks/DropPath.py
  netquarry show DropPath --out library --format json";

pub(super) const REPORT: &str = "\
Examples:
  netquarry report failures                        What stands in the way of the most blocks of out/
  netquarry report costs                           What plugins took when it was made";

pub(super) const EXPORT: &str = "\
Examples:
  netquarry export parquet --out blocks.parquet    The blocks of the library in out/
  netquarry export dataset --out dataset
  netquarry export sbom > library.cdx.json";

pub(super) const DEDUP: &str = "\
Examples:
  netquarry dedup run --set dedup-lexical.threshold=0.85    What would change in the library in out/
  netquarry dedup explain first.py second.py
  netquarry dedup sweep                            How many blocks of out/ stay, by both thresholds";

pub(super) const DEDUP_RUN: &str = "\
Examples:
  netquarry dedup run --set dedup-lexical.threshold=0.85    What would change in the library in out/
  netquarry dedup run --set dedup-lexical.threshold=0.85 --apply
  netquarry dedup run library --dedup dedup-exact,dedup-canonical
  netquarry dedup run my-models --preset nn-dup --out unique
  netquarry dedup run models.parquet --incremental --out unique
  netquarry dedup run models.jsonl --preset nn-dup --include rag --include FractalNet --out unique";

pub(super) const DEDUP_EXPLAIN: &str = "\
Examples:
  netquarry dedup explain first.py second.py
  netquarry dedup explain timm.layers.mlp.Mlp GluMlp --input out
  netquarry dedup explain 'rag-1#0' 'rag-2#7' --input models.jsonl --preset nn-dup";

pub(super) const DEDUP_SWEEP: &str = "\
Examples:
  netquarry dedup sweep                            How many blocks of out/ stay, by both thresholds
  netquarry dedup sweep my-models --lexical 0.7,0.8,0.9 --structural 0.95
  netquarry dedup sweep models.jsonl --preset nn-dup --report sweep.html";

pub(super) const CORPUS: &str = "\
Examples:
  netquarry corpus list
  netquarry corpus show quickstart > my-corpus.json
  netquarry corpus schema";

pub(super) const PLUGIN: &str = "\
Examples:
  netquarry plugin list                            Those that a run asks, in order
  netquarry plugin new shim-acme --kind repo-shim --language python
  netquarry plugin test shim-acme
  netquarry plugin publish shim-acme --registry registry --license MIT --repository .
  netquarry plugin add shim-acme --allow-unsigned";

pub(super) const PLUGIN_LIST: &str = "\
Examples:
  netquarry plugin list
  netquarry plugin list --corpus paper-pypi --format json";

pub(super) const ENV: &str = "\
Examples:
  netquarry env                                    Say which Python validates blocks
  netquarry env prepare                            Make an environment with torch, if there is none
  netquarry env --python ../venv/bin/python";

pub(super) const ENV_LOCK: &str = "\
Examples:
  netquarry env lock timm.layers.drop.DropPath > requirements.txt
  netquarry env lock out/blocks/DropPath.py --out requirements.txt
  netquarry env lock DropPath --library library

Every distribution of the environment is pinned, and what was installed for the block beside it. The first lines say \
which Python it was.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  netquarry completions bash > ~/.local/share/bash-completion/completions/netquarry
  netquarry completions fish > ~/.config/fish/completions/netquarry.fish";

pub(super) const CONFIG: &str = "\
Examples:
  netquarry config check
  netquarry config schema > netquarry.schema.json";

pub(super) const CONFIG_CHECK: &str = "\
Examples:
  netquarry config check
  netquarry config check --config ../netquarry.toml

Exit status: 0 it can be used; 1 plugins or their options are wrong; 2 it cannot be read.";

pub(super) const CONFIG_SCHEMA: &str = "\
Examples:
  netquarry config schema > netquarry.schema.json

An editor with Taplo takes it from a first line `#:schema ./netquarry.schema.json` in netquarry.toml.";
