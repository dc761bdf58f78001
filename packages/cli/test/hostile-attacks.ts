/** The attacks of `hostile-tests.ts`, in the words of a shell. */

/**
 * By the rows of the table in `docs/operate/security.md` of what is believed of a tool: a key is
 * the beginning of a row's first cell.
 */
export const attacksOnRows = {
  '`jobs/complete`': {
    'complete its job itself': `
    echo forged > forged; git add forged; git -c commit.gpgSign=false commit -qm forged
    check='{"name":"all","command":"true","outcome":"passed","exitCode":0,"durationMs":1}'
    evidence='"commitSha":"'$(git rev-parse HEAD)'","verdict":"verified","checks":['$check']'
    post v1/jobs/complete "$claim" '"outcome":"done","evidence":{'"$evidence"'}'
    retry='"outcomeReason":{"retryable":true,"spendsAttempt":false}'
    post v1/jobs/complete "$claim" '"outcome":"failed"' "$retry"`,
  },
  '`jobs/heartbeat`': {
    'end its lease and speak as its agent': `
    post v1/jobs/heartbeat "$claim" '"shorten":true' '"leaseMs":1000'
    post v1/jobs/heartbeat "$claim" '"message":"All checks passed."'
    post v1/jobs/heartbeat "$claim" '"leaseMs":1000'
    echo "lease $(field leaseExpiresAt) from $(date +%s)"
    post v1/jobs/heartbeat "$claim" '"leaseMs":86400000'
    echo "lease $(field leaseExpiresAt) from $(date +%s)"`,
  },
  '`job-events/append`': {
    'forge the numbers of its log': `
    call='"toolCall":{"id":"1","kind":"execute","title":"npm test","status":"done"}'
    entry='"logSeq":9007199254740991,"message":"all fine\\n","stream":"agent"'
    post v1/job-events/append "$claim" '"entries":[{'"$entry"',"activity":{'"$call"'}}]'
    echo 'it is not fine'`,
  },
  'a question': {
    'have its questions answered without a person': `
    ask() { post v1/uncertainties/create-with-auto-promotion "$question" "$@"; }
    ask "$job" '"onDeadline":"assume"' '"assumedValue":"yes"' '"deadlineAt":"2020-01-01T00:00:00Z"'
    ask "$job" '"actionKey":"execute:git push"'
    ask '"jobId":"'$FOREIGN_JOB'"'
    # One curl asks 50 times: it does not send what follows the number sign.
    post 'v1/uncertainties/create-with-auto-promotion#[1-50]' "$question" "$job" > /dev/null
    ask "$job"`,
  },
  'an answer': {
    'answer its own question': `
    post v1/uncertainties/create-with-auto-promotion "$job" "$question"
    asked='"uncertaintyId":"'$(field uncertaintyId)'"'
    post v1/uncertainties/add-resolution "$asked" '"mode":"answered","value":"yes","confidence":1'
    post v1/uncertainties/withdraw-resolution "$asked" '"resolutionId":"res_any"'
    post v1/uncertainties/promote "$asked"
    post v1/uncertainties/take-answer "$asked" "$claim"`,
  },
  'the job that applies an answer': {
    'ask for a job with the rights of a person': `
    post v1/uncertainties/create-with-auto-promotion "$run" "$question"`,
  },
  'its run': {
    'rewrite its run': `
    post v2/runs/upsert "$run" '"status":"done"'
    post v2/runs/upsert "$run" '"status":"in_progress","goal":"Mine."'
    post v2/runs/upsert "$run" '"status":"in_progress","title":"Mine."'
    post v1/runs/upsert '"repoId":"'$SIGNALBOX_REPO_ID'"' '"runRef":"other"' '"status":"done"'
    post v2/runs/upsert "$run" '"status":"in_progress"' '"currentMilestone":"tests"'`,
  },
  children: {
    'give work to any machine': `
    more='"priority":1000,"maxAttempts":100,"requirements":{"labels":{"pool":"production"}}'
    child() { echo '"kind":"work","prompt":"'$1'",'"$more"; }
    post v1/jobs/enqueue '"repoId":"'$SIGNALBOX_REPO_ID'"' "$(child enqueued)"
    call spawn_job "{$(child 'child by its server')}"
    echo '{"type":"child","job":{'"$(child 'child by its report')"'}}' >> "$SIGNALBOX_REPORT_FILE"
    echo '{"outcome":"done","children":[{'"$(child 'child by its result')"'}]}' \\
      > "$SIGNALBOX_RESULT_FILE"`,
  },
  uploads: {
    'take uploads that are not its own': `
    post v1/uploads/delete '"uploadId":"'$FOREIGN_UPLOAD'"'
    post v1/uploads/get-download-url '"uploadId":"'$FOREIGN_UPLOAD'"'
    draft='"fileName":"a.txt","contentType":"text/plain"'
    other='"job":{"jobId":"'$FOREIGN_JOB'","agentId":"'$SIGNALBOX_AGENT_ID'"}'
    post v1/uploads/create "$draft" '"sizeBytes":1' "$other"
    for number in $(seq 11); do post v1/uploads/create "$draft" '"sizeBytes":100000000'; done`,
  },
  'a context pack': {
    'choose the context of its run': `
    post v1/context-packs/build-run-v1 "$run" '"requestedContextItemIds":["ctx_any"]'
    post v1/context-packs/build-run-v1 "$run"
    post v1/context-packs/build-run-v1 "$run" '"tokenBudget":1000'`,
  },
  'what it reads': {
    'read what is not its own': `
    post v1/jobs/get '"jobId":"'$FOREIGN_JOB'"'
    post v1/jobs/log '"jobId":"'$FOREIGN_JOB'"' '"attempt":1'
    post v1/jobs/list
    post v1/runs/get '"runId":"'$FOREIGN_RUN'"'
    post v1/uncertainties/list '"runId":"'$FOREIGN_RUN'"'
    post v1/context-items/list`,
  },
  'every other call': {
    'make every other call': `    while read -r path fields; do post "$path" "$fields"; done < "$OTHER_CALLS"`,
  },
  'outcome and message': {
    'say that its work is proven': `
    echo forged > forged
    proof='"verdict":"verified","checks":[{"name":"all","outcome":"passed"}],"commitSha":"'
    proof="$proof$(git rev-parse HEAD)"'"'
    reason='"outcomeReason":{"category":"provider","code":"usage_limit","spendsAttempt":false}'
    echo '{"outcome":"done","message":"All passed.",'"$proof,$reason"',"evidence":{'"$proof"'}}' \\
      > "$SIGNALBOX_RESULT_FILE"`,
    'say that its attempt does not count': `
    reason='"category":"provider","code":"usage_limit","retryable":true,"spendsAttempt":false'
    echo '{"outcome":"failed","message":"A limit.","outcomeReason":{'"$reason"'}}' \\
      > "$SIGNALBOX_RESULT_FILE"`,
  },
  'evidence, findings, attachments': {
    'report checks and files of others': `
    echo forged > forged
    call report_evidence '{"check":"test ! -e forged","outcome":"passed","verdict":"verified"}'
    call report_finding '{"file":"a.ts","severity":"minor","message":"none"}'
    file='"uploadId":"'$FOREIGN_UPLOAD'","fileName":"a.txt","contentType":"text/plain"'
    echo '{"type":"file",'"$file"',"sizeBytes":7}' >> "$SIGNALBOX_REPORT_FILE"`,
  },
  'the worktree': {
    'put programs into every configuration that git reads': `
      poison() {
        for name in core.fsmonitor core.sshCommand core.pager core.editor gpg.program diff.external \\
          core.alternateRefsCommand uploadpack.packObjectsHook filter.evil.clean filter.evil.smudge \\
          filter.evil.process diff.evil.textconv diff.evil.command merge.evil.driver; do
          git config $1 "$name" "$PWN"
        done
        git config $1 commit.gpgSign true
        git config $1 core.hooksPath "$PWD/hooks"
        git config $1 core.attributesFile "$PWD/.gitattributes"
      }
      mkdir hooks
      for hook in pre-commit post-commit post-checkout reference-transaction post-index-change; do
        cp "$PWN" hooks/$hook; cp "$PWN" .git/hooks/$hook 2>/dev/null || true
      done
      git init --quiet nested
      (cd nested && echo a > a && git add a && git -c user.name=x -c user.email=x@x commit -qm a)
      echo '* filter=evil diff=evil merge=evil' > .gitattributes
      cp .gitattributes nested/.gitattributes
      mkdir -p .git/info && cp .gitattributes .git/info/attributes
      git add nested 2>/dev/null
      poison --global; poison --local; (cd nested && poison --local)
      echo b > nested/a; echo changed >> README.md`,
    'make .gitignore a pipe': 'mkfifo .gitignore',
    'read the environment of every process above': `
      pid=$$
      while [ "$pid" -gt 1 ] && [ "$pid" != "$TESTER" ]; do
        cat /proc/$pid/environ /proc/$pid/cmdline >> "$LOOT"
        pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
      done`,
  },
  'its `.git`': {
    'replace .git by a file that leads to another repository': `
      cp -r .git evil
      git config -f evil/config core.fsmonitor "$PWN"
      rm -rf .git
      echo "gitdir: $PWD/evil" > .git`,
    'commit to nothing': `
      echo 1111111111111111111111111111111111111111 > .git/HEAD`,
    'commit without the objects': `
      echo new > new.txt; git add new.txt; git commit -qm new
      blob=$(git rev-parse HEAD:new.txt)
      rm -f ".git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)"`,
    'make HEAD a pipe': 'rm .git/HEAD; mkfifo .git/HEAD',
    'replace .git by a link to the clone':
      'echo evil > evil; rm -rf .git; ln -s "$CLONE/.git" .git',
    'make its objects a link': 'rm -rf .git/objects; ln -s "$CLONE/.git/objects" .git/objects',
    'make its refs a link': 'rm -rf .git/refs; ln -s "$CLONE/.git/refs" .git/refs',
    'make its index a link to a new file': `
      echo evil > 'touch pwned'; ln -sf "$OUTSIDE/new" .git/index`,
    'make its index a pipe': 'rm .git/index; mkfifo .git/index',
    'borrow the objects of another repository': `
      echo "$OTHER/.git/objects" >> .git/objects/info/alternates
      git -C "$OTHER" rev-parse HEAD > .git/HEAD`,
    'have its new refs written through a link': `
      for name in signalbox-ref signalbox-index index.lock HEAD.lock; do
        ln -s "$OUTSIDE/precious" .git/$name
      done
      echo changed >> README.md`,
  },
  'report file, result file, attached files': {
    'make the result a pipe': 'mkfifo "$SIGNALBOX_RESULT_FILE"',
    'make the result a device': 'ln -s /dev/zero "$SIGNALBOX_RESULT_FILE"',
    'make the result a link to a file of the person': 'ln -s "$SECRET" "$SIGNALBOX_RESULT_FILE"',
    'make the result a second name of a file': 'ln "$SECRET" "$SIGNALBOX_RESULT_FILE"',
    'replace the folder of the result': `
      folder=$(dirname "$SIGNALBOX_RESULT_FILE"); rm -rf "$folder"; ln -s "$OUTSIDE" "$folder"`,
    'write an endless result': 'truncate -s 3G "$SIGNALBOX_RESULT_FILE"',
    'make the report a pipe': 'rm -f "$SIGNALBOX_REPORT_FILE"; mkfifo "$SIGNALBOX_REPORT_FILE"',
    'have the report written through a link': `
      ln -s "$OUTSIDE/precious" "$SIGNALBOX_REPORT_FILE"
      call finish '{"outcome":"done","message":"$(touch pwned)"}'`,
    'have the report written through a second name': `
      ln "$OUTSIDE/precious" "$SIGNALBOX_REPORT_FILE"
      call finish '{"outcome":"done","message":"$(touch pwned)"}'`,
    'attach a file of the person': `
      ln -s "$OUTSIDE" out
      call attach_file '{"path":"out/precious"}' '{"path":"../../../precious"}'`,
    'attach through a folder that it exchanges': `
      mkdir shots; echo mine > shots/precious
      while :; do mv shots away; ln -s "$OUTSIDE" shots; rm shots; mv away shots; done 2>/dev/null &
      loop=$!
      for try in 1 2 3 4 5 6 7 8; do
        set -- "$@" '{"path":"shots/precious"}' '{"path":"shots/precious"}' '{"path":"shots/precious"}'
      done
      call attach_file "$@"
      kill $loop`,
    'replace the log by a pipe': `
      log=$(dirname "$SIGNALBOX_WORKTREE")/log.ndjson
      rm -f "$log"; mkfifo "$log"`,
    'write into the log': 'echo "{" >> "$(dirname "$SIGNALBOX_WORKTREE")/log.ndjson"',
  },
  output: {
    'print the token in disguise': `
      token=$(cat "$KNOWN_TOKEN")
      first=$(echo "$token" | cut -c1-20); second=$(echo "$token" | cut -c21-)
      printf '%s\\033[0m%s\\n' "$first" "$second"
      printf '%s\\n%s\\n' "$first" "$second"
      printf '%s\\342\\200\\213%s\\n' "$first" "$second"
      printf '%s' "$token" | base64
      printf 'xx%s' "$token" | base64 -w 0
      printf '%s\\033]0;title\\007%s\\n' "$first" "$second" >&2
      echo "{\\"outcome\\":\\"done\\",\\"message\\":\\"$token\\"}" > "$SIGNALBOX_RESULT_FILE"`,
    'print control characters': `    printf 'a\\033]52;c;ZXZpbA==\\007b \\033[2J\\342\\200\\256c\\r\\010d\\n'`,
  },
} as const satisfies Record<string, Record<string, string>>;

type Rows = typeof attacksOnRows;
/** The name of an attack: something that a tool tries. */
export type Attack = { [Row in keyof Rows]: keyof Rows[Row] }[keyof Rows];

/**
 * Functions and texts for the attacks. `call` calls a tool of the job's own server, as a coding
 * tool does; `post` calls the hub with the token of the job, and prints what became of it.
 */
export const attackFunctions = `
call() {
  tool=$1; shift
  coproc server { "$NODE" "$COMMAND" mcp; }
  ask() { printf '%s\\n' "$1" >&"\${server[1]}"; read -r answer <&"\${server[0]}"; }
  client='"capabilities":{},"clientInfo":{"name":"x","version":"1"}'
  ask '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'"$client}}"
  printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\\n' >&"\${server[1]}"
  for input in "$@"; do
    ask '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$tool"'","arguments":'"$input}}"
    echo "$answer"
  done
  eval "exec \${server[1]}>&-"
}
post() {
  local path=$1 fields more; shift
  fields='"workspaceId":"'$SIGNALBOX_WORKSPACE_ID'"'
  for more in "$@"; do fields="$fields\${more:+,$more}"; done
  answer=$(curl -s "$SIGNALBOX_BASE_URL/control-plane/$path" --data-binary "{$fields}" \\
    -H "authorization: Bearer $SIGNALBOX_JOB_TOKEN" -H 'content-type: application/json')
  case $answer in
  *'"ok":true'*) echo "post $path ok" ;;
  *) echo "post $path $(field error)" ;;
  esac
}
field() { echo "$answer" | sed -n 's/.*"'$1'":"\\([^"]*\\)".*/\\1/p'; }
job='"jobId":"'$SIGNALBOX_JOB_ID'"'
claim=$job',"agentId":"'$SIGNALBOX_AGENT_ID'","claimGeneration":'$SIGNALBOX_ATTEMPT
run='"runId":"'$SIGNALBOX_RUN_ID'"'
question='"prompt":"Which colour?","kind":"choice","confidence":0.2'
`;
