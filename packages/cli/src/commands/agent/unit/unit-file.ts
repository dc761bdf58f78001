/** A program that the machine keeps running: the content of its unit or property list. */
export interface Service {
  /** Such as `signalbox-agent`. */
  name: string;
  /** The command line; the program is an absolute path. */
  program: readonly [string, ...string[]];
  environment: Readonly<Record<string, string>>;
  directory: string;
  /** launchd has no journal. */
  logFile: string;
}

/** Only files with this line are replaced and removed. */
export const SERVICE_MARK =
  'Written by `signalbox agent service install`. Run it again to change this file.';

/** Between a stop and SIGKILL: the agent ends its tools in 10 s, and delivers for 30 s. */
const STOP_SECONDS = 60;
const RESTART_SECONDS = 10;
/** A start with these exit codes fails again: usage, token rejected, refused by the hub. */
const FINAL_EXIT_CODES = '2 3 4';
/** The agent returned its jobs to the queue. */
const STOPPED_EXIT_CODE = 130;

/** The unit of a systemd user service (systemd.service(5)). */
export function systemdUnit({ name, program, environment, directory }: Service): string {
  const [file, ...args] = program;
  const variables = Object.entries(environment).map(
    ([variable, value]) => `Environment=${quote(`${variable}=${value}`)}`,
  );
  const command = [quote(file), ...args.map((arg) => quote(arg).replaceAll('$', '$$$$'))];
  return `# ${SERVICE_MARK}
[Unit]
Description=Signalbox agent (${name})
StartLimitIntervalSec=0

[Service]
ExecStart=${command.join(' ')}
WorkingDirectory=${directory.replaceAll('%', '%%')}
${variables.join('\n')}
Restart=on-failure
RestartSec=${RESTART_SECONDS}
RestartPreventExitStatus=${FINAL_EXIT_CODES}
# SIGQUIT returns the jobs to the queue; SIGTERM would finish them first.
KillMode=mixed
KillSignal=SIGQUIT
SuccessExitStatus=${STOPPED_EXIT_CODE}
TimeoutStopSec=${STOP_SECONDS}

[Install]
WantedBy=default.target
`;
}

/** In systemd's quotes, a backslash escapes and a percent sign begins a specifier. */
function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** The property list of a launchd agent (launchd.plist(5)). */
export function launchdPlist(service: Service): string {
  const { name, program, environment, directory, logFile } = service;
  const variables = Object.entries(environment).map(
    ([variable, value]) => `    <key>${xml(variable)}</key>\n    <string>${xml(value)}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${SERVICE_MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>WorkingDirectory</key>
  <string>${xml(directory)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${RESTART_SECONDS}</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>StandardOutPath</key>
  <string>${xml(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(logFile)}</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The program that a file starts; null if it names none. */
export function programIn(content: string): string | null {
  const unit = /^ExecStart="((?:[^"\\]|\\.)*)"/m.exec(content)?.[1];
  if (unit !== undefined) return unit.replaceAll('%%', '%').replace(/\\(.)/g, '$1');
  const list = /<key>ProgramArguments<\/key>\s*<array>\s*<string>([^<]*)</.exec(content)?.[1];
  if (list === undefined) return null;
  return list.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
