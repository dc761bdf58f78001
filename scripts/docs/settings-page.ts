import { FILE_SUFFIX, type Setting, settings } from '@signalbox/hub';

/** Names that are reserved for settings to come. A setting leaves this list when it exists. */
export const reservedSettings = [['SVC_OIDC_*', 'sign-in with a company’s own accounts']] as const;

/** The page of all settings in Markdown, from the table that the hub reads at its start. */
export function writeSettingsPage(): string {
  const rows = Object.values(settings).map(
    ({ env, flag, default: value, description }) =>
      `| \`${env}\` | \`--${flag}\` | ${value === '' ? '' : `\`${value}\``} | ${description} |`,
  );
  const secrets = Object.values<Setting>(settings)
    .filter(({ secret }) => secret)
    .map(({ env }) => `\`${env}\``);
  const reserved = reservedSettings.map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return `${[
    '# Settings',
    '',
    '<!-- Written by `npm run docs` from packages/hub/src/start/config.ts. Edit it there. -->',
    '',
    'Each setting of the hub has an environment variable, and a flag of `npm start` (behind two',
    'dashes: `npm start -- --port 5000`) and of `signalbox serve`. Flags go before the environment.',
    'An invalid value stops the start with one sentence. An unknown name that begins with `SVC_` is',
    'reported and ignored.',
    '',
    'Flags and environments show in the list of processes. A secret may be in a file instead: the',
    `variable with \`${FILE_SUFFIX}\` at its end names it, for ${secrets.join(', ')}.`,
    '',
    '| environment | flag | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    'Reserved names:',
    '',
    '| environment | for |',
    '|---|---|',
    ...reserved,
  ].join('\n')}\n`;
}
