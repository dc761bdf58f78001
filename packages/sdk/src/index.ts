export { type CallOptions, LONG_POLL_MARGIN_MS, type Retry } from './call.ts';
export {
  type Client,
  type ClientOf,
  type ClientOptions,
  createClient,
  createClientOf,
  type EndpointCall,
  type EndpointTable,
} from './client.ts';
export {
  type ApprovedLogin,
  type DeviceLogin,
  DeviceLoginError,
  type DeviceLoginOptions,
  nextPollStep,
  nextPollStepAfterError,
  type PollState,
  type PollStep,
  pollDeviceLogin,
  runDeviceLogin,
  startDeviceLogin,
} from './device-login.ts';
export { ApiError, type ApiErrorCode, type ClientErrorCode, UnreachableError } from './errors.ts';
export type { StreamedEvent } from './event-stream.ts';
export type { Fetch } from './exchange.ts';
export type { Sleep } from './sleep.ts';
