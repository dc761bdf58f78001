import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const firefoxPath = process.env.SIGNALBOX_TEST_FIREFOX ?? '/usr/bin/firefox-esr';

/** Why scenarios in Firefox are skipped; false when they run. */
export const firefoxMissing = findFault();

function findFault(): string | false {
  try {
    accessSync(firefoxPath, constants.X_OK);
    return false;
  } catch {
    return `there is no ${firefoxPath}; install firefox-esr, or name it in SIGNALBOX_TEST_FIREFOX`;
  }
}

export interface Firefox {
  /** Opens an address in the one window. */
  open(url: string): Promise<void>;
  /** Runs an expression in the page, as if a person had pressed something; JSON comes back. */
  run<Result>(expression: string): Promise<Result>;
  /** Waits until an expression of the page is truthy, and returns it. */
  see<Result>(expression: string): Promise<Result>;
  /** Presses the button with this text, once it can be pressed. */
  press(name: string): Promise<void>;
  /** Waits until the page has so many notifications, and returns them. */
  shown(count: number): Promise<Shown[]>;
  setCookie(cookie: { name: string; value: string; domain: string }): Promise<void>;
  close(): Promise<void>;
}

/** The part that a page sees of a notification that its worker, or the browser itself, shows. */
export interface Shown {
  title: string;
  body: string;
  tag: string;
  actions: { action: string; title: string }[];
}

/** Generous for two busy cores; a page that is well is waited for by what it shows. */
const WAIT_MS_MAX = 60_000;

/**
 * Starts a real Firefox with its own profile, driven by WebDriver BiDi, which Firefox speaks.
 *
 * @param pushUrl the WebSocket address of the push service.
 */
export async function startFirefox(profile: string, pushUrl: string): Promise<Firefox> {
  const preferences = {
    'dom.push.serverURL': pushUrl,
    'dom.push.testing.allowInsecureServerURL': true,
    // The preferences for automation switch push off.
    'remote.prefs.recommended': false,
    // Each page may notify: no person is there to allow it.
    'permissions.default.desktop-notification': 1,
    'alerts.useSystemBackend': false,
    'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.update.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
  };
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = spawn(firefoxPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const socket = new WebSocket(`${await readAddress(child)}/session`);
  const call = await connect(socket);
  await call('session.new', { capabilities: {} });
  const { contexts } = await call<{ contexts: { context: string }[] }>(
    ...(['browsingContext.getTree', {}] as const),
  );
  const context = contexts[0]?.context ?? '';
  async function run<Result>(expression: string): Promise<Result> {
    const body = `(async () => JSON.stringify((await (${expression})) ?? null))()`;
    const options = { target: { context }, awaitPromise: true, userActivation: true };
    const answer = await call<{
      type: string;
      result?: { value: string };
      exceptionDetails?: { text: string };
    }>('script.evaluate', { expression: body, ...options });
    if (answer.result === undefined) throw new Error(answer.exceptionDetails?.text ?? answer.type);
    return JSON.parse(answer.result.value) as Result;
  }
  function see<Result>(expression: string): Promise<Result> {
    return run<Result>(`new Promise((resolve, reject) => {
      const endMs = Date.now() + ${WAIT_MS_MAX};
      const look = async () => {
        const found = await (${expression});
        if (found) resolve(found);
        else if (Date.now() < endMs) setTimeout(look, 50);
        else reject(new Error(document.body.innerText));
      };
      look();
    })`);
  }
  return {
    run,
    see,
    async open(url) {
      await call('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async press(name) {
      await see(`[...document.querySelectorAll('button')].some(
        (button) => button.textContent === '${name}' && !button.disabled && (button.click(), true))`);
    },
    shown: (count) =>
      see<Shown[]>(`navigator.serviceWorker.getRegistration()
        .then((registration) => registration.getNotifications())
        .then((all) => all.length === ${count} &&
          all.map(({ title, body, tag, actions }) => ({ title, body, tag, actions })))`),
    async setCookie({ name, value, domain }) {
      const cookie = { name, value: { type: 'string', value }, domain, httpOnly: true };
      await call('storage.setCookie', { cookie: { ...cookie, sameSite: 'lax', path: '/' } });
    },
    async close() {
      socket.close();
      child.kill();
      await ended;
    },
  };
}

/** Reads the address that Firefox prints. @throws when it ends before. */
async function readAddress(child: ChildProcess): Promise<string> {
  const printed: string[] = [];
  if (child.stderr === null) throw new Error('Firefox has no output.');
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) {
      // Read and drop the rest of its output.
      child.stderr.resume();
      return address;
    }
    printed.push(line);
  }
  throw new Error(`Firefox ended: ${printed.join('\n')}`);
}

type Call = <Result>(method: string, params: object) => Promise<Result>;

async function connect(socket: WebSocket): Promise<Call> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.addEventListener('message', ({ data }) => {
    const { id, type, result, message } = JSON.parse(String(data));
    if (type === 'success') waiting.get(id)?.resolve(result);
    else if (type === 'error') waiting.get(id)?.reject(new Error(message));
    waiting.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox has closed.'));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let last = 0;
  return <Result>(method: string, params: object) => {
    last += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    // As the specification of WebDriver BiDi has it for the method.
    return answer.promise as Promise<Result>;
  };
}
