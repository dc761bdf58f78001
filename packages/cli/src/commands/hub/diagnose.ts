import { diagnoseHub, type Finding } from '@signalbox/hub';
import { explainHubError, readHubConfig } from './admin-settings.ts';

/** The hub's side of `signalbox doctor --hub`. @throws {CliError} SETTING_INVALID */
export async function diagnose(
  env: NodeJS.ProcessEnv,
  options: Record<string, unknown>,
): Promise<Finding[]> {
  const config = readHubConfig(env, options);
  try {
    return await diagnoseHub(config);
  } catch (error) {
    throw explainHubError(error);
  }
}
