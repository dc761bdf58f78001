import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { confirmPassword, type PeopleDeps } from '../people/sessions.ts';
import { approverOf } from './approver.ts';
import { answerDevice, openDevice } from './open-approval.ts';
import { presentOpened, presentStart } from './present.ts';
import { pollDeviceLogin, startDeviceLogin } from './start-login.ts';

export function bindDeviceRoutes(api: Api, deps: PeopleDeps): void {
  const { devices } = endpoints;
  api.bind(devices.start, async (input, { address }) => {
    const { device, deviceSecret } = await startDeviceLogin(deps, input, address);
    return presentStart(device, deviceSecret, deps.baseUrl);
  });
  api.bind(devices.poll, (input) => pollDeviceLogin(deps, input));
  const { deviceApprovals } = consoleEndpoints;
  api.bind(deviceApprovals.open, async ({ deviceId }, context) =>
    presentOpened(await openDevice(deps, deviceId, approverOf(context))),
  );
  api.bind(deviceApprovals.answer, async (input, context) => {
    const { decision, password } = input;
    // Hashing takes its time, so it happens before the action and never within.
    if (decision === 'approve' && password !== undefined) {
      await confirmPassword(deps, context.principal, context.address, password);
    }
    return { status: await answerDevice(deps, input, approverOf(context)) };
  });
}
