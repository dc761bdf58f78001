// The jobs of the seeded workspace, in the order in which they are enqueued. Lists show the last
// ones first, so what waits and what runs comes at the end.
import type { SeedJob } from './seed-texts.ts';

const HOUR_MS = 60 * 60 * 1_000;

const green = (text: string) => `\u001b[32m${text}\u001b[39m`;
const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`;

export const seedJobs: readonly SeedJob[] = [
  {
    repository: 'acme/infra',
    prompt:
      'List every database with its PostgreSQL version and its extensions in docs/databases.md.',
    run: 'postgres-18',
    name: 'databases',
    course: {
      status: 'done',
      log: ['Reading terraform/databases/*.tf', 'Found 7 databases, 5 on 16, 2 on 17'],
      message: 'Added docs/databases.md: 7 databases, with versions and extensions.',
      files: ['docs/databases.md'],
      costUsd: 0.18,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Upgrade the HTTP client to the next major version and adapt the retry options.',
    course: {
      status: 'done',
      log: ['npm install undici@7', dim('src/http/client.ts: 4 call sites'), green('✓ 212 tests')],
      message:
        'Upgraded the HTTP client. The retry options moved into the agent; 4 call sites changed.',
      files: ['package.json', 'package-lock.json', 'src/http/client.ts', 'src/http/retry.ts'],
      costUsd: 0.74,
    },
  },
  {
    repository: 'acme/web',
    prompt:
      'The price in the cart shows three decimals for yen. Use the minor units of the currency.',
    course: {
      status: 'done',
      log: ['Reproduced with JPY 1200', green('✓ cart-price.test.ts (14)'), green('✓ 388 tests')],
      message: 'Prices are formatted by the minor units of their currency; JPY has none.',
      files: ['src/cart/price.ts', 'src/cart/price.test.ts'],
      costUsd: 0.31,
    },
  },
  {
    repository: 'acme/api',
    prompt:
      'Review the change that adds cursor pagination to GET /orders. Look for missing indexes.',
    kind: 'pr_review',
    role: 'reviewer',
    course: {
      status: 'done',
      log: ['Reading 6 changed files', 'EXPLAIN of the new query: index scan on orders_created_id'],
      message:
        'No objection. The query uses orders_created_id; the cursor is opaque and is validated.',
      costUsd: 0.22,
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Replace the date picker by the native input on touch devices.',
    course: {
      status: 'failed',
      log: [
        'npm test -- date-field',
        red('✗ date-field.test.tsx › keeps the time zone of the order'),
        '  expected 2026-03-29, received 2026-03-28',
        red('2 of 31 tests failed'),
      ],
      message:
        'Two tests of the date field fail: the native input drops the time zone of the order.',
      category: 'tests',
      code: 'tests_failed',
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Remove the feature flag new-invoices; it is on for everybody since June.',
    course: {
      status: 'done',
      log: ['12 uses of new-invoices', 'Removing the old branch of each', green('✓ 214 tests')],
      message: 'Removed the flag and the code of the old invoices, 412 lines less.',
      files: ['src/flags.ts', 'src/invoices/render.ts', 'src/invoices/legacy.ts'],
      costUsd: 0.46,
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Rotate the credentials of the staging object store and restart what uses them.',
    course: {
      status: 'failed',
      log: [
        'terraform plan -target=module.staging_store',
        red('Error: 403 AccessDenied: iam:UpdateAccessKey'),
      ],
      message: 'The role of the build machine may not update access keys (iam:UpdateAccessKey).',
      category: 'permission',
      code: 'access_denied',
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Is the cookie banner still needed on /status? If nothing is set there, leave it out.',
    course: {
      status: 'done',
      log: [
        'GET /status sets no cookie',
        'The banner is left out on /status since 4f1c2aa already',
      ],
      message: 'Nothing to change: the page sets no cookie and shows no banner.',
      costUsd: 0.07,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Add an index for the search of customers by e-mail; it takes 900 ms on production.',
    concurrencyKey: 'api-migrations',
    course: {
      status: 'done',
      log: [
        'EXPLAIN: sequential scan on customers (2.1 M rows)',
        'Writing migration 0148',
        green('✓ 9 ms'),
      ],
      message: 'Migration 0148 makes the index concurrently; the search takes 9 ms on a copy.',
      files: ['migrations/0148-customers-email.sql', 'src/customers/search.ts'],
      costUsd: 0.39,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Count requests by client and minute, in Redis, without slowing down a request.',
    run: 'rate-limits',
    name: 'count-requests',
    course: {
      status: 'done',
      log: ['Writing src/limits/counter.ts', 'Benchmark: p99 +0.3 ms', green('✓ 226 tests')],
      message: 'Requests are counted in one pipelined INCR; p99 rises by 0.3 ms.',
      files: ['src/limits/counter.ts', 'src/limits/counter.test.ts', 'src/server.ts'],
      costUsd: 0.88,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Answer 429 with Retry-After when a client is over its limit.',
    run: 'rate-limits',
    name: 'answer-429',
    course: {
      status: 'done',
      log: ['Which window is meant? Asking.', green('✓ 231 tests')],
      message: 'Over the limit the API answers 429 with Retry-After and a body that says why.',
      files: ['src/limits/refusal.ts', 'src/limits/refusal.test.ts'],
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
        reasoning: 'Bursts at the edge of a minute caused the incident of May.',
      },
      answer: 'sliding',
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Draw the checkout on one page: address, delivery and payment below each other.',
    run: 'checkout-v2',
    name: 'one-page',
    course: {
      status: 'done',
      log: ['Moving 3 routes into /checkout', green('✓ 402 tests'), 'Lighthouse: 97'],
      message: 'The checkout is one page with three sections; the old routes redirect to it.',
      files: ['src/checkout/page.tsx', 'src/checkout/sections.tsx', 'src/routes.ts'],
      costUsd: 1.62,
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Fill in the city from the postal code, and let people change it.',
    run: 'checkout-v2',
    course: {
      status: 'done',
      log: ['GET /addresses/lookup', green('✓ address-form.test.tsx (22)')],
      message: 'The city is filled in after the postal code and stays editable.',
      files: ['src/checkout/address-form.tsx', 'src/checkout/address-form.test.tsx'],
      costUsd: 0.53,
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Move the shop to the new icon set in one go.',
    course: { status: 'canceled', reason: 'Design has not decided on the set yet.' },
  },
  {
    repository: 'acme/api',
    prompt: 'Send the webhook of a refund again when the receiver answers 5xx.',
    course: {
      status: 'done',
      log: ['Backoff: 1 min, 5 min, 30 min, 2 h', green('✓ webhooks.test.ts (41)')],
      message: 'Refund webhooks are sent again up to four times, with the same event id.',
      files: ['src/webhooks/delivery.ts', 'src/webhooks/webhooks.test.ts'],
      costUsd: 0.61,
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Pin the base images of all services by digest.',
    course: {
      status: 'done',
      log: ['11 Dockerfiles', 'docker buildx imagetools inspect …', green('✓ all build')],
      message: 'All 11 images are pinned by digest; Renovate updates them weekly.',
      files: ['services/api/Dockerfile', 'services/web/Dockerfile', 'renovate.json'],
      costUsd: 0.27,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'The export of orders runs out of memory above 100,000 rows. Stream it.',
    course: {
      status: 'failed',
      log: [
        'node --max-old-space-size=256 scripts/export-load.js',
        red('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'),
        'The CSV encoder keeps all rows of a customer',
      ],
      message: 'Still out of memory at 140,000 rows: the CSV encoder keeps all rows of a customer.',
      category: 'process',
      code: 'exit_134',
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Translate the new checkout texts to German and French.',
    run: 'checkout-v2',
    role: 'translator',
    course: {
      status: 'done',
      log: ['38 new keys', 'de: 38 of 38', 'fr: 38 of 38'],
      message: 'All 38 texts are there in German and French; two await a native reader.',
      files: ['locales/de/checkout.json', 'locales/fr/checkout.json'],
      costUsd: 0.12,
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Write to Slack when the nightly import fails.',
    course: { status: 'canceled', reason: 'The alerting of the platform team covers it.' },
  },
  {
    repository: 'acme/api',
    prompt: 'Find out why the test “refund twice” fails once in fifty runs, and mend it.',
    course: {
      status: 'done',
      log: ['50 runs: 1 failure', 'Two refunds race for the same lock row', green('✓ 500 runs')],
      message: 'The test found a real race: the second refund read before the lock. Mended.',
      files: ['src/refunds/refund.ts', 'src/refunds/refund.test.ts'],
      costUsd: 1.04,
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Raise the memory of the search nodes to 32 GB.',
    course: { status: 'canceled', reason: 'Half of it suffices after the new index.' },
  },
  {
    repository: 'acme/web',
    prompt: 'Check all pages with axe and mend what is serious.',
    course: {
      status: 'failed',
      log: [
        'axe: 41 pages',
        red('✗ 3 serious: color-contrast on .badge--sale'),
        'No colour of the palette fits',
      ],
      message: 'Three serious faults of contrast are left: the palette has no colour that fits.',
      category: 'blocked_by_design',
      code: 'no_solution',
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Accept wallets on the checkout page.',
    run: 'checkout-v2',
    name: 'wallets',
    course: {
      status: 'blocked',
      log: ['Reading src/checkout/payment.tsx', 'Both libraries fit the code. Asking a person.'],
      question: {
        prompt: 'Which library takes payments by wallet on the checkout page?',
        kind: 'choice',
        context:
          'Both cover the wallets that 96 % of our customers have. The bundle has 40 KB left.',
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
        reasoning: 'Refunds and disputes go through the provider already.',
      },
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Delete accounts that were not used for two years, as the privacy policy says.',
    course: {
      status: 'blocked',
      log: ['1,204 accounts have not been used since 2024-11', '17 of them have an open invoice'],
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
        reasoning: 'What is kept can still be deleted later.',
      },
    },
    run: 'privacy',
  },
  {
    repository: 'acme/infra',
    prompt: 'Move the first database to PostgreSQL 18 and measure the downtime.',
    run: 'postgres-18',
    name: 'first-database',
    course: {
      status: 'blocked',
      log: [
        'Rehearsed on a copy: 38 s of downtime',
        'The maintenance window is not in the repository',
      ],
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
        reasoning: 'It is the hour with the fewest searches.',
      },
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Tell every client of its limit in response headers, and document them.',
    run: 'rate-limits',
    name: 'limit-headers',
    course: {
      status: 'running',
      log: ['Reading the draft for RateLimit headers', 'Writing src/limits/headers.ts'],
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
    course: {
      status: 'running',
      log: ['3,912 batches of 500 orders', 'Batches pause when replication lags by more than 2 s'],
      loop: ['→ node scripts/backfill.js --batch {n}', dim('  500 orders, replication lag 0.4 s')],
    },
  },
  {
    repository: 'acme/infra',
    prompt: 'Restore last night’s backup into an empty database and compare row counts.',
    course: {
      status: 'running',
      log: ['Backup of 03:00 UTC, 48 GB', 'pg_restore --jobs 4'],
      loop: ['restored table {n}', green('  rows agree')],
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Record the checkout in both browsers and compare it with the old one.',
    run: 'checkout-v2',
    name: 'record-checkout',
    course: {
      status: 'running',
      log: ['Starting Chromium and WebKit', 'Viewport 360 × 780'],
      loop: [
        'purchase {n} in Chromium',
        green('  ✓ the images agree'),
        'purchase {n} in WebKit',
        red('  1 pixel differs') + dim(' (below the threshold)'),
      ],
    },
  },
  {
    repository: 'acme/web',
    prompt: 'Make the search box answer while people type.',
    agent: 'ada-laptop',
    course: {
      status: 'running',
      log: ['Measuring the search of today: 410 ms', 'Trying a debounce of 120 ms'],
      loop: ['typed {n} letters', dim('answered after 96 ms')],
    },
  },
  {
    repository: 'acme/api',
    prompt: 'Drop the column orders.tax_code, which nothing reads since the backfill.',
    concurrencyKey: 'api-migrations',
    course: { status: 'pending' },
  },
  {
    repository: 'acme/api',
    prompt: 'Publish the page “Rate limits” in the developer documentation.',
    run: 'rate-limits',
    after: ['limit-headers', 'answer-429'],
    course: { status: 'pending' },
  },
  {
    repository: 'acme/infra',
    prompt: 'Move the other six databases to PostgreSQL 18, one a night.',
    run: 'postgres-18',
    after: ['databases', 'first-database'],
    course: { status: 'pending' },
  },
  {
    repository: 'acme/web',
    prompt: 'Switch half of the customers to the new checkout.',
    run: 'checkout-v2',
    after: ['wallets', 'record-checkout'],
    course: { status: 'pending' },
  },
  {
    repository: 'acme/web',
    prompt: 'Take the summer sale off the home page.',
    delayMs: 26 * HOUR_MS,
    course: { status: 'pending' },
  },
  {
    repository: 'acme/infra',
    prompt: 'Renew the certificate of status.acme.test and check that it is served.',
    delayMs: 70 * HOUR_MS,
    course: { status: 'pending' },
  },
  {
    repository: 'acme/web',
    prompt: 'Train the small model for “similar products” on last month’s orders.',
    requirements: { labels: { gpu: 'yes' } },
    course: { status: 'pending' },
  },
  {
    repository: 'acme/api',
    prompt: 'Say in the error of POST /coupons which field is wrong.',
    priority: 5,
    course: { status: 'pending' },
  },
  {
    repository: 'acme/api',
    prompt: 'Replace moment by the date functions of the platform.',
    priority: -5,
    course: { status: 'pending' },
  },
  {
    repository: 'acme/infra',
    prompt: 'Write a runbook for a full disk on the search nodes.',
    course: { status: 'pending' },
  },
];
