// The workspace that `npm run demo -- --keep-open` makes: the work of an invented team. Lists show
// the last jobs first, so what waits and what runs comes at the end.
import { createHash } from 'node:crypto';
import { richJob } from './rich-job.ts';
import type { SeedJob, SeedWorld } from './seed.ts';

type Details = Partial<Omit<SeedJob, 'course'>>;

const HOUR_MS = 60 * 60 * 1_000;
const green = (text: string) => `\u001b[32m${text}\u001b[39m`;
const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`;

/** Without files the job changed nothing. */
function done(
  repository: string,
  prompt: string,
  message: string,
  { files, costUsd, ...details }: Details & { files?: string[]; costUsd?: number },
): SeedJob {
  // Looks like the id of a commit. The demo says that these commits do not exist.
  const commitSha = createHash('sha1').update(prompt).digest('hex');
  const usage = costUsd && { costUsd, model: 'demo-model', inputTokens: costUsd * 180_000 };
  const result = {
    outcome: 'done' as const,
    message,
    ...(files && { evidence: { commitSha, changedFiles: files } }),
    ...(usage && { usage }),
  };
  return { repository, prompt, ...details, course: { status: 'ended', result } };
}

function failed(
  repository: string,
  prompt: string,
  message: string,
  [category, code]: readonly [string, string],
  log: readonly string[],
): SeedJob {
  const outcomeReason = { category, code, summary: message, retryable: false };
  const result = { outcome: 'failed' as const, message, outcomeReason };
  return { repository, prompt, log, course: { status: 'ended', result } };
}

function waiting(repository: string, prompt: string, details: Details = {}): SeedJob {
  return { repository, prompt, ...details, course: { status: 'pending' } };
}

const jobs: readonly SeedJob[] = [
  done(
    'acme/infra',
    'List every database with its PostgreSQL version and its extensions in docs/databases.md.',
    'Added docs/databases.md: 7 databases, with versions and extensions.',
    {
      run: 'postgres-18',
      name: 'databases',
      log: ['Reading terraform/databases/*.tf', 'Found 7 databases, 5 on 16, 2 on 17'],
      files: ['docs/databases.md'],
      costUsd: 0.18,
    },
  ),
  done(
    'acme/web',
    'The price in the cart shows three decimals for yen. Use the minor units of the currency.',
    'Prices are formatted by the minor units of their currency; JPY has none.',
    {
      log: ['Reproduced with JPY 1200', green('✓ cart-price.test.ts (14)'), green('✓ 388 tests')],
      files: ['src/cart/price.ts', 'src/cart/price.test.ts'],
      costUsd: 0.31,
    },
  ),
  done(
    'acme/api',
    'Add an index for the search of customers by e-mail; it takes 900 ms on production.',
    'Migration 0148 makes the index concurrently; the search takes 9 ms on a copy.',
    {
      concurrencyKey: 'api-migrations',
      log: [
        'EXPLAIN: sequential scan on customers (2.1 M rows)',
        'Writing migration 0148',
        green('✓ 9 ms'),
      ],
      files: ['migrations/0148-customers-email.sql', 'src/customers/search.ts'],
      costUsd: 0.39,
    },
  ),
  done(
    'acme/api',
    'Count requests by client and minute, in Redis, without slowing down a request.',
    'Requests are counted in one pipelined INCR; p99 rises by 0.3 ms.',
    {
      run: 'rate-limits',
      name: 'count-requests',
      log: ['Writing src/limits/counter.ts', 'Benchmark: p99 +0.3 ms', green('✓ 226 tests')],
      files: ['src/limits/counter.ts', 'src/limits/counter.test.ts', 'src/server.ts'],
      costUsd: 0.88,
    },
  ),
  done(
    'acme/api',
    'Answer 429 with Retry-After when a client is over its limit.',
    'Over the limit the API answers 429 with Retry-After and a body that says why.',
    {
      run: 'rate-limits',
      name: 'answer-429',
      log: ['Which window is meant? Asking.', green('✓ 231 tests')],
      files: ['src/limits/refusal.ts', 'src/limits/refusal.test.ts'],
      answer: 'sliding',
      question: {
        prompt: 'Does the limit count a sliding minute or the minute of the clock?',
        kind: 'choice',
        context: 'The clock’s minute is cheaper. A client can send twice its share at its edge.',
        confidence: 0.5,
        impact: 'medium',
        reversibility: 'easy',
        options: [
          { value: 'sliding', label: 'Sliding minute', description: 'Exact; two reads a request.' },
          { value: 'clock', label: 'Minute of the clock', description: 'One read; less exact.' },
        ],
        recommendedValue: 'sliding',
        assumedValue: 'sliding',
        assumedReasoning: 'Bursts at the edge of a minute caused the incident of May.',
      },
    },
  ),
  done(
    'acme/web',
    'Draw the checkout on one page: address, delivery and payment below each other.',
    'The checkout is one page with three sections; the old routes redirect to it.',
    {
      run: 'checkout-v2',
      name: 'one-page',
      log: ['Moving 3 routes into /checkout', green('✓ 402 tests'), 'Lighthouse: 97'],
      files: ['src/checkout/page.tsx', 'src/checkout/sections.tsx', 'src/routes.ts'],
      costUsd: 1.62,
    },
  ),
  done(
    'acme/api',
    'Send the webhook of a refund again when the receiver answers 5xx.',
    'Refund webhooks are sent again up to four times, with the same event id.',
    {
      log: ['Backoff: 1 min, 5 min, 30 min, 2 h', green('✓ webhooks.test.ts (41)')],
      files: ['src/webhooks/delivery.ts', 'src/webhooks/webhooks.test.ts'],
      costUsd: 0.61,
    },
  ),
  failed(
    'acme/api',
    'The export of orders runs out of memory above 100,000 rows. Stream it.',
    'Still out of memory at 140,000 rows: the CSV encoder keeps all rows of a customer.',
    ['process', 'exit_134'],
    [
      'node --max-old-space-size=256 scripts/export-load.js',
      red('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'),
      'The CSV encoder keeps all rows of a customer',
    ],
  ),
  done(
    'acme/web',
    'Translate the new checkout texts to German and French.',
    'All 38 texts are there in German and French; two await a native reader.',
    {
      run: 'checkout-v2',
      role: 'translator',
      log: ['38 new keys', 'de: 38 of 38', 'fr: 38 of 38'],
      files: ['locales/de/checkout.json', 'locales/fr/checkout.json'],
      costUsd: 0.12,
    },
  ),
  {
    repository: 'acme/api',
    prompt: 'Write to Slack when the nightly import fails.',
    course: { status: 'canceled', reason: 'The alerting of the platform team covers it.' },
  },
  done(
    'acme/api',
    'Find out why the test “refund twice” fails once in fifty runs, and mend it.',
    'The test found a real race: the second refund read before the lock. Mended.',
    {
      log: ['50 runs: 1 failure', 'Two refunds race for the same lock row', green('✓ 500 runs')],
      files: ['src/refunds/refund.ts', 'src/refunds/refund.test.ts'],
      costUsd: 1.04,
    },
  ),
  richJob,
  failed(
    'acme/web',
    'Check all pages with axe and mend what is serious.',
    'Three serious faults of contrast are left: the palette has no colour that fits.',
    ['blocked_by_design', 'no_solution'],
    [
      'axe: 41 pages',
      red('✗ 3 serious: color-contrast on .badge--sale'),
      'No colour of the palette fits',
    ],
  ),
  {
    repository: 'acme/web',
    prompt: 'Accept wallets on the checkout page.',
    run: 'checkout-v2',
    name: 'wallets',
    log: ['Reading src/checkout/payment.tsx', 'Both libraries fit the code. Asking a person.'],
    course: { status: 'blocked' },
    question: {
      prompt: 'Which library takes payments by wallet on the checkout page?',
      kind: 'choice',
      context: 'Both cover the wallets that 96 % of our customers have. The bundle has 40 KB left.',
      confidence: 0.45,
      impact: 'high',
      reversibility: 'hard',
      options: [
        {
          value: 'provider',
          label: 'The library of the payment provider',
          description: '31 KB, one contract, refunds stay as they are.',
        },
        {
          value: 'payment-request',
          label: 'The Payment Request API',
          description: 'No library; each wallet is set up by hand.',
        },
      ],
      recommendedValue: 'provider',
      assumedValue: 'provider',
      assumedReasoning: 'Refunds and disputes go through the provider already.',
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Delete accounts that were not used for two years, as the privacy policy says.',
    run: 'privacy',
    log: ['1,204 accounts have not been used since 2024-11', '17 of them have an open invoice'],
    course: { status: 'blocked' },
    question: {
      prompt: 'May accounts with an open invoice be deleted?',
      kind: 'approval',
      context: 'The policy names no exception. Accounting needs invoices for ten years.',
      confidence: 0.3,
      impact: 'high',
      reversibility: 'impossible',
      options: [
        { value: 'keep', label: 'Keep them', description: 'Delete the other 1,187.' },
        { value: 'anonymize', label: 'Anonymize them', description: 'Keep only the invoice.' },
        { value: 'delete', label: 'Delete all', description: 'Cannot be undone.' },
      ],
      recommendedValue: 'keep',
      assumedValue: 'keep',
      assumedReasoning: 'What is kept can still be deleted later.',
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Move the first database to PostgreSQL 18 and measure the downtime.',
    run: 'postgres-18',
    name: 'first-database',
    log: [
      'Rehearsed on a copy: 38 s of downtime',
      'The maintenance window is not in the repository',
    ],
    course: { status: 'blocked' },
    question: {
      prompt: 'When may the database of the search service be down for a minute?',
      kind: 'missing_fact',
      context: 'The rehearsal took 38 s. The search answers 503 meanwhile; the shop stays up.',
      confidence: 0.2,
      impact: 'medium',
      reversibility: 'easy',
      options: [
        { value: 'sunday-04', label: 'Sunday, 04:00 UTC', description: '12 searches a minute.' },
        { value: 'tonight', label: 'Tonight, 23:00 UTC', description: '90 searches a minute.' },
      ],
      recommendedValue: 'sunday-04',
      assumedValue: 'sunday-04',
      assumedReasoning: 'It is the hour with the fewest searches.',
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Tell every client of its limit in response headers, and document them.',
    run: 'rate-limits',
    name: 'limit-headers',
    log: ['Reading the draft for RateLimit headers', 'Writing src/limits/headers.ts'],
    course: {
      status: 'running',
      loop: [
        '→ npm test -- limits, round {n}',
        green('✓ headers.test.ts (12)'),
        '→ npx autocannon --duration 10 http://127.0.0.1:3000/orders',
        dim('  {n}0,000 requests sent, p99 4.1 ms'),
      ],
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Backfill orders.tax_region for all orders since 2021, in batches.',
    concurrencyKey: 'api-migrations',
    log: ['3,912 batches of 500 orders', 'Batches pause when replication lags by more than 2 s'],
    course: {
      status: 'running',
      loop: ['→ node scripts/backfill.js --batch {n}', dim('  500 orders, replication lag 0.4 s')],
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Restore last night’s backup into an empty database and compare row counts.',
    log: ['Backup of 03:00 UTC, 48 GB', 'pg_restore --jobs 4'],
    course: { status: 'running', loop: ['restored table {n}', green('  rows agree')] },
  },
  {
    repository: 'acme/web',
    prompt: 'Record the checkout in both browsers and compare it with the old one.',
    run: 'checkout-v2',
    name: 'record-checkout',
    log: ['Starting Chromium and WebKit', 'Viewport 360 × 780'],
    course: {
      status: 'running',
      loop: [
        'purchase {n} in Chromium',
        green('  ✓ the images agree'),
        'purchase {n} in WebKit',
        red('  1 pixel differs'),
      ],
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Make the search box answer while people type.',
    agent: 'ada-laptop',
    log: ['Measuring the search of today: 410 ms', 'Trying a debounce of 120 ms'],
    course: { status: 'running', loop: ['typed {n} letters', dim('answered after 96 ms')] },
  },
  waiting('acme/api', 'Drop the column orders.tax_code, which nothing reads since the backfill.', {
    concurrencyKey: 'api-migrations',
  }),
  waiting('acme/api', 'Publish the page “Rate limits” in the developer documentation.', {
    run: 'rate-limits',
    after: ['limit-headers', 'answer-429'],
  }),
  waiting('acme/infra', 'Move the other six databases to PostgreSQL 18, one a night.', {
    run: 'postgres-18',
    after: ['databases', 'first-database'],
  }),
  waiting('acme/web', 'Switch half of the customers to the new checkout.', {
    run: 'checkout-v2',
    after: ['wallets', 'record-checkout'],
  }),
  waiting('acme/web', 'Take the summer sale off the home page.', { delayMs: 26 * HOUR_MS }),
  waiting('acme/web', 'Train the small model for “similar products” on last month’s orders.', {
    requirements: { labels: { gpu: 'yes' } },
  }),
  waiting('acme/api', 'Say in the error of POST /coupons which field is wrong.', { priority: 5 }),
  waiting('acme/api', 'Replace moment by the date functions of the platform.', { priority: -5 }),
];

const claude = { name: 'claude', version: '2.1.332', model: 'claude-sonnet-5' };
const codex = { name: 'codex', version: '0.171.0', model: 'gpt-6-codex' };

export const demoWorld: SeedWorld = {
  agents: [
    { name: 'build-1', repositories: ['acme/api', 'acme/infra'], jobsMax: 3, tool: claude },
    {
      name: 'mac-mini',
      repositories: ['acme/web'],
      jobsMax: 3,
      tool: codex,
      platform: 'darwin',
      arch: 'arm64',
    },
    {
      name: 'ada-laptop',
      repositories: ['acme/api', 'acme/web'],
      jobsMax: 1,
      tool: claude,
      platform: 'darwin',
      arch: 'arm64',
    },
  ],
  runs: {
    'rate-limits': {
      repository: 'acme/api',
      title: 'Rate limits for the public API',
      goal: 'No client can take more than its share, and each one is told how much is left.',
    },
    privacy: {
      repository: 'acme/api',
      title: 'Delete data that no feature needs',
      goal: 'The service keeps what the privacy policy promises.',
    },
    'checkout-v2': {
      repository: 'acme/web',
      title: 'Checkout on one page',
      goal: 'A customer pays on one page, and fewer than 30 % leave before they have paid.',
    },
    'postgres-18': {
      repository: 'acme/infra',
      title: 'PostgreSQL 18',
      goal: 'All databases run PostgreSQL 18 with less than a minute of downtime each.',
    },
  },
  jobs,
};
