# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# The other half of the KUnit suites.
# bed: um
# timeout: 900

set -- 'dafs_[!a-g]*'
# shellcheck source=tools/testing/suites/kunit.sh
. "$BED/../suites/kunit.sh"
