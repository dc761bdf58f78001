// Two weeks of the demo's team: the jobs before those of `seed-jobs.ts`, oldest first.
import { createHash } from 'node:crypto';
import type { SeedJob } from './seed.ts';

/*
 * Each job: repository, person, minutes, dollars and verdict; the prompt; perhaps a question with
 * its two options, of which a person chose the one with the star; the result; changed files.
 */
const text = `
acme/api ada 14 0.22 verified
Describe every endpoint of /orders in the OpenAPI document, errors included.
All 11 endpoints of /orders are described, with 23 errors.
docs/openapi.yaml

acme/web ben 31 0.74 verified
Replace the carousel on the home page by three pictures; few people swipe it.
The carousel is gone: 41 KB less script, and the largest paint comes 0.6 s earlier.
src/home/hero.tsx src/home/hero.css src/home/hero.test.tsx

acme/infra chiara 9 0.09 verified
Rotate the certificate of the internal registry and write down how.
The certificate is valid until 2027-11; the steps are in docs/registry.md.
docs/registry.md ansible/registry.yml

acme/api ben 44 1.31 gaps
Let clients page through /customers by cursor; keep the old parameter for a release.
Pages by cursor work; the old parameter answers with a header that says when it ends.
src/customers/list.ts src/customers/list.test.ts src/http/cursor.ts

acme/web ada 12 0.18 verified
The date of delivery is a day early for customers west of Greenwich. Find out why.
The date was formatted in UTC. It is formatted in the time zone of the address now.
src/delivery/date.ts src/delivery/date.test.ts

acme/api chiara 27 0.66 verified
Refuse coupons that have expired while the cart was open, with an error that names the coupon.
Checkout answers 409 COUPON_EXPIRED with the code of the coupon.
src/coupons/redeem.ts src/coupons/redeem.test.ts

acme/infra ada 18 0.27 verified
Alert when a disk will be full within two days, by the trend of the last six hours.
The alert uses predict_linear over 6 h; the runbook has a page for it.
prometheus/disk.rules.yml docs/runbooks/disk.md

acme/web chiara 38 0.92 verified
Make the order history usable by keyboard and screen reader.
Rows are links with a name, the menu follows the arrow keys, axe finds nothing.
src/orders/history.tsx src/orders/menu.tsx src/orders/history.test.tsx

acme/api ada 21 0.41 verified
Log the id of the order in every line that is about one.
?Which field holds the id? | *order_id, as in the events | orderId, as in the code
Every line about an order has the field order_id.
src/log/context.ts src/orders/routes.ts

acme/api ben 8 0.07 unverified
Remove the feature flag new_invoice; it has been on for everyone since June.
The flag and the old invoice are gone.
src/invoices/render.ts src/flags.ts

acme/web ben 26 0.58 verified
Show the stock of a shop on the page of a product, refreshed each minute.
The page asks for the stock of the nearest shop each minute while it is visible.
src/product/stock.tsx src/product/stock.test.tsx src/api/stock.ts

acme/infra chiara 33 0.81 gaps
Build the images without root and make them smaller.
Images are built by buildah without root; api is 118 MB instead of 412.
images/api.Containerfile images/web.Containerfile ci/build.yml

acme/api chiara 16 0.25 verified
Return 422 with all wrong fields at once, not only the first.
Validation collects all errors; the answer lists them by field.
src/http/validate.ts src/http/validate.test.ts

acme/web ada 47 1.44 verified
Move the account pages from the old router to the new one.
The 9 account pages are on the new router; old addresses redirect.
src/account/routes.tsx src/routes.ts src/account/account.test.tsx

acme/api ada 29 0.63 verified
Send invoices as PDF/A, which the tax office wants from January.
?Which library writes the file? | Keep pdfkit and add the profile | *Change to typst
Invoices are PDF/A-3 now; veraPDF accepts all 40 samples.
src/invoices/pdf.ts templates/invoice.typ src/invoices/pdf.test.ts

acme/infra ben 11 0.12 verified
Keep the logs of the payment service for 90 days, the others for 14.
Retention is set by service; the rule has a test.
loki/retention.yml loki/retention.test.sh

acme/web chiara 19 0.33 verified
Tell customers in the cart when a price has changed since they put it there.
The line of the cart shows the old and the new price until it is confirmed.
src/cart/line.tsx src/cart/line.test.tsx

acme/api ben 36 0.88 verified
Import the price list of the wholesaler each night, and keep what it does not know.
The import runs at 02:30, updates 18,204 prices and touches no other field.
src/import/prices.ts src/import/prices.test.ts jobs/nightly.yml

acme/web ben 23 0.47 gaps
Draw the chart of sales without the library of 180 KB.
The chart is 90 lines of SVG; two of its animations are gone.
src/reports/chart.tsx src/reports/chart.test.tsx

acme/infra ada 41 1.09 verified
Let the staging system shut down at night and start when somebody opens it.
Staging sleeps from 20:00; the first request wakes it in 48 s.
terraform/staging/schedule.tf proxy/wake.conf

acme/api chiara 13 0.19 verified
Round VAT per line, as accounting does, and not per order.
VAT is rounded per line; 3 of 1,200 old orders differ by a cent.
src/tax/vat.ts src/tax/vat.test.ts

acme/web ada 17 0.29 verified
Load the fonts without a jump of the text.
Fallback fonts have the measures of the real ones: the shift is 0.00.
src/fonts.css src/head.tsx

acme/api ada 52 1.72 verified
Split the table of events by month, without stopping writes.
Events are partitioned by month; the move of 38 M rows took 3 h beside traffic.
migrations/0147-events-partitions.sql src/events/store.ts scripts/move-events.ts

acme/infra chiara 22 0.36 verified
Prove each week that a backup can be restored, and say so in the channel.
?Where is it restored? | *A machine that is made for it | The staging system
Each Monday a new machine restores the last backup and compares row counts.
ci/restore.yml scripts/compare.sql

acme/web chiara 34 0.79 verified
Let people undo the removal of an item from the cart for ten seconds.
Removal shows an undo for ten seconds, by keyboard too.
src/cart/remove.tsx src/cart/remove.test.tsx

acme/api ben 10 0.11 verified
Answer HEAD on all paths that answer GET.
HEAD answers like GET without a body, on all 64 paths.
src/http/server.ts src/http/head.test.ts

acme/infra ben 28 0.52 verified
Replace the cron jobs of the old server by timers with alerts.
All 7 jobs are timers; each alerts when it is late by an hour.
ansible/timers.yml docs/timers.md

acme/web ada 15 0.21 verified
Say on the page of an order where the parcel is, in words and not in codes.
The 31 codes of the carriers have a sentence each; unknown ones show the code.
src/orders/tracking.ts src/orders/tracking.test.ts

acme/api chiara 43 1.18 gaps
Make the tests of payments run without the provider's sandbox.
A recorded provider answers 38 of 41 tests; three need the real one and say so.
test/provider.ts test/recordings.json test/payments.test.ts

acme/web ben 25 0.55 verified
Cache pages of products for a minute at the edge, by language and currency.
Pages have s-maxage=60 and vary by language and currency; 71 % are hits on staging.
src/http/cache.ts src/http/cache.test.ts
`;

/** The jobs of the two weeks, without the times at which they began. */
export const pastJobs: readonly SeedJob[] = text.trim().split('\n\n').map(readJob);

function readJob(paragraph: string): SeedJob {
  const lines = paragraph.split('\n');
  const [head = '', prompt = ''] = lines;
  const [repository = '', by = '', minutes = '', dollars = '', verdict = ''] = head.split(' ');
  const [message = '', files = ''] = lines.slice(-2);
  const asked = lines.find((line) => line.startsWith('?'));
  const costUsd = Number(dollars);
  const changedFiles = files.split(' ');
  const passed = { outcome: 'passed' as const, exitCode: 0 };
  const checks = [
    { name: 'types', command: 'npx tsc', durationMs: 9_000, ...passed },
    { name: 'tests', command: 'npm test', durationMs: 52_000, ...passed },
  ];
  return {
    ...{ repository, by, prompt, minutes: Number(minutes) },
    log: [`Reading ${changedFiles[0]}`, '→ npm test', '\u001b[32m✓ all tests pass\u001b[39m'],
    ...(asked === undefined ? {} : readQuestion(asked)),
    course: {
      status: 'ended',
      result: {
        ...{ outcome: 'done', message },
        evidence: {
          // Looks like the id of a commit. The demo says that these commits do not exist.
          commitSha: createHash('sha1').update(prompt).digest('hex'),
          changedFiles,
          verdict,
          ...(verdict === 'verified' ? { checks } : {}),
          ...(verdict === 'gaps' ? { gaps: ['No check is configured for the page of docs.'] } : {}),
        },
        usage: {
          ...{ costUsd, model: 'demo-model' },
          inputTokens: Math.round(costUsd * 180_000),
          outputTokens: Math.round(costUsd * 9_000),
        },
      },
    },
  };
}

/** `?Which one? | *This | That`; the agent recommends the first one. */
function readQuestion(line: string): Pick<SeedJob, 'question' | 'answer'> {
  const [prompt = '', ...texts] = line.slice(1).split(' | ');
  const options = texts.map((label, at) => {
    return { value: at === 0 ? 'first' : 'second', label: label.replace('*', '') };
  });
  return {
    question: {
      ...{ prompt, kind: 'choice', confidence: 0.5, impact: 'medium', reversibility: 'easy' },
      ...{ options, recommendedValue: 'first', assumedValue: 'first' },
      assumedReasoning: 'It changes the least.',
    },
    answer: texts[0]?.startsWith('*') ? 'first' : 'second',
  };
}
