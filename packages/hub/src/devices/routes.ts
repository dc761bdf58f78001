import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { PeopleDeps } from '../people/deps.ts';
import { confirmPassword } from '../people/prove-password.ts';
import { answerDevice } from './answer-approval.ts';
import { approverOf } from './approver.ts';
import { openDevice } from './open-approval.ts';
import { pollDeviceLogin } from './poll-login.ts';
import { presentOpened, presentStart } from './present.ts';
import { startDeviceLogin } from './start-login.ts';

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
    // Hashing is slow, so it happens before the transaction, never within it.
    if (decision === 'approve' && password !== undefined) {
      await confirmPassword(deps, context.principal, context.address, password);
    }
    return { status: await answerDevice(deps, input, approverOf(context)) };
  });
}
