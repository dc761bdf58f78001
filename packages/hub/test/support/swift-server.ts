import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findFreePorts } from '@signalbox/local-postgres';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Config } from '../../src/start/setting-values.ts';

/*
 * A real S3-compatible store on loopback: OpenStack Swift with its S3 interface, a node of one
 * machine with everything in a directory of the test. It checks signatures itself.
 */

/** The Debian packages that hold it. */
const PACKAGES = 'swift-proxy swift-account swift-container swift-object';
const parts = ['account', 'container', 'object'] as const;

const ACCESS_KEY_ID = 'test:tester';
const SECRET_ACCESS_KEY = 'testing-secret';
const BUCKET = 'acme-uploads';
const START_ATTEMPTS_MAX = 1_200;
const ATTEMPT_INTERVAL_MS = 50;

/** Why no store can be started here; undefined when one can. */
export function whyNoSwift(): string | undefined {
  const needed = ['proxy', ...parts].map((part) => `swift-${part}-server`);
  const missing = needed.some((name) => !existsSync(join('/usr/bin', name)));
  return missing ? `swift is not installed (apt-get install ${PACKAGES})` : undefined;
}

/** A test or a file of tests, which calls back when it ends. */
interface Ending {
  after(end: () => Promise<void>): void;
}

/** Starts a store with one empty bucket. */
export async function startSwift(t: Ending): Promise<S3Config> {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-swift-'));
  const [proxy = 0, account = 0, container = 0, object = 0] = await findFreePorts(4);
  const ports = { proxy, account, container, object };
  mkdirSync(join(dir, 'devices', 'd1'), { recursive: true });
  buildRings(dir, ports);
  for (const part of parts) {
    writeFileSync(join(dir, `${part}.conf`), configurePart(dir, part, ports[part]));
    run(t, dir, part);
  }
  writeFileSync(join(dir, 'proxy.conf'), configureProxy(dir, ports.proxy));
  run(t, dir, 'proxy');
  const config: S3Config = {
    endpoint: `http://127.0.0.1:${ports.proxy}`,
    bucket: BUCKET,
    region: 'us-east-1',
    accessKeyId: ACCESS_KEY_ID,
    secretAccessKey: SECRET_ACCESS_KEY,
    forcePathStyle: true,
  };
  // Registered last, so that it is deleted after its writers have ended.
  t.after(async () => rmSync(dir, { recursive: true, force: true }));
  for (const port of Object.values(ports)) await waitForPort(port);
  await makeBucket(config);
  return config;
}

/** As `swift-ring-builder` does, which would have to be started nine times. */
const ringProgram = `import json, sys
from swift.common.ring import RingBuilder
for part, port in json.loads(sys.argv[1]).items():
    builder = RingBuilder(1, 1, 0)
    place = dict(region=1, zone=1, ip='127.0.0.1', port=port, device='d1', weight=1, meta='')
    builder.add_dev(dict(place, replication_ip=place['ip'], replication_port=port))
    builder.rebalance()
    builder.get_ring().save(part + '.ring.gz')
`;

function buildRings(dir: string, ports: Record<string, number>): void {
  execFileSync('/usr/bin/python3', ['-c', ringProgram, JSON.stringify(ports)], { cwd: dir });
}

const common = (dir: string, port: number) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${dir}
log_address = ${dir}/no-log
log_level = ERROR
`;

function configurePart(dir: string, part: string, port: number): string {
  return `${common(dir, port)}
devices = ${dir}/devices
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
[pipeline:main]
pipeline = ${part}-server
[app:${part}-server]
use = egg:swift#${part}
`;
}

function configureProxy(dir: string, port: number): string {
  return `${common(dir, port)}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
# It is up before the parts are, and would leave them alone for a minute.
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
# The proxy insists on one, and works without it being there.
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:slo]
use = egg:swift#slo
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${SECRET_ACCESS_KEY} .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
`;
}

function run(t: Ending, dir: string, part: string): void {
  const child = spawn(`/usr/bin/swift-${part}-server`, [join(dir, `${part}.conf`), '-v'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
}

/** A process says nothing when it is ready: its port does. */
async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < START_ATTEMPTS_MAX; attempt++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setTimeout(ATTEMPT_INTERVAL_MS);
  }
  throw new Error(`nothing listens on port ${port}: swift did not start`);
}

async function makeBucket({ endpoint, bucket, ...credentials }: S3Config): Promise<void> {
  const { method, url, headers } = await new AwsV4Signer({
    ...credentials,
    method: 'PUT',
    url: `${endpoint}/${bucket}`,
    service: 's3',
  }).sign();
  const response = await fetch(url, { method, headers });
  if (!response.ok) throw new Error(`no bucket: ${response.status} ${await response.text()}`);
}
