# What stands behind the interpreters of this folder: behaves as Python would, as far as an installation looks.
#
# Arguments: a behaviour, then Python's own.
behaviour=$1
shift
for last; do :; done

answer() {
    echo "a sitecustomize may print this"
    cat >"$last" <<END
{"version": "$1", "implementation": "$2", "prefixes": ["/usr"], "packages": {}, "standard_library": ["os"],
 "distributions": $3, "makes_environments": true}
END
}

case "$*" in
*"-m venv "*)
    if [ "$behaviour" = no_ensurepip ]; then
        echo "Error: Command 'ensurepip' returned non-zero exit status 1." >&2
        exit 1
    fi
    mkdir -p "$last/bin"
    printf '#!/bin/sh\nexec sh "%s" "made_%s" "$@"\n' "$0" "$behaviour" >"$last/bin/python"
    chmod +x "$last/bin/python"
    ;;
*"-m pip install "*)
    echo "Collecting torch==2.15.0"
    echo "  Downloading torch-2.15.0-cp311-cp311-linux_x86_64.whl (539.1 MB)"
    case "$behaviour" in
    made_full_disk)
        echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device" >&2
        exit 1
        ;;
    made_offline)
        echo "WARNING: Retrying after connection broken by 'NewConnectionError('Network is unreachable')'" >&2
        echo "ERROR: No matching distribution found for torch==2.15.0" >&2
        exit 1
        ;;
    made_slow) exec sleep 60 ;;
    made_stopped) kill -TERM $$ ;;
    esac
    echo "Installing collected packages: torch, torchvision"
    ;;
*"import torch, torchvision, numpy, PIL.Image"*)
    if [ "$behaviour" = made_broken ]; then
        echo "ImportError: libcudart.so.13: cannot open shared object file" >&2
        exit 1
    fi
    ;;
*)
    case "$behaviour" in
    too_old) answer 3.8.10 cpython '{}' ;;
    pypy) answer 3.11.9 pypy '{"torch": "2.15.0"}' ;;
    with_torch | made_*) answer 3.11.7 cpython '{"torch": "2.15.0", "numpy": "2.4.6"}' ;;
    not_python)
        echo "usage: not_python FILE" >&2
        exit 2
        ;;
    *) answer 3.11.7 cpython '{}' ;;
    esac
    ;;
esac
