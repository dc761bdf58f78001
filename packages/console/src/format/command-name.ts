/**
 * The command line as it is typed here: in the folder of the hub by npx, elsewhere as installed.
 */
export function commandName(): string {
  const isHubMachine = ['localhost', '127.0.0.1', '[::1]'].includes(window.location.hostname);
  return isHubMachine ? 'npx signalbox' : 'signalbox';
}
