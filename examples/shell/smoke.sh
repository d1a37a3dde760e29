#!/bin/sh
# Checks the settings app, and writes a JUnit report. Usage: smoke.sh REPORT.xml [SETTING]
# Exits with 1 if a check fails; the session, its bugs and the screenshots stay in the memory.
set -u
report=${1:?the file of the report, for example report.xml}
setting=${2:-Dark theme}
AFD_SESSION=smoke-$(date +%s)-$$
export AFD_SESSION
failed=0

# Runs a check, and records its result. Usage: expect NAME COMMAND...
expect() {
  name=$1
  shift
  if "$@" >/dev/null 2>&1; then
    afctl session result add "$name" --status passed >/dev/null
  else
    failed=1
    afctl observe screenshot >/dev/null
    afctl session result add "$name" --status failed --evidence latest >/dev/null
    afctl session bug add "$name" --severity high --screenshot latest >/dev/null
    echo "failed: $name"
  fi
}

afctl session start --goal "smoke test of the settings" --app com.android.settings >/dev/null || exit 2
afctl launch com.android.settings >/dev/null || exit 2
expect "the settings open" afctl verify top-activity --expected com.android.settings
expect "Display can be found" afctl scroll-to Display
expect "Display opens" afctl tap Display
expect "$setting can be changed" afctl check "$setting" --enabled
afctl session report --file "$report" >/dev/null || exit 2
afctl session end >/dev/null || exit 2
exit $failed
