import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeSlack } from '../../src/notifications/slack-api.ts';

const failures: [name: string, error: unknown, kind: string, failure: RegExp][] = [
  ['a wrong token of the app', { data: { error: 'invalid_auth' } }, 'again', /SVC_SLACK_BOT_TOKEN/],
  ['an app that was removed', { data: { error: 'account_inactive' } }, 'again', /Its operator/],
  ['a person who has left the team', { data: { error: 'user_disabled' } }, 'gone', /was closed/],
  ['a message that is too long', { data: { error: 'msg_too_long' } }, 'refused', /msg_too_long/],
  ['a fault of Slack', { data: { error: 'internal_error' } }, 'again', /internal_error/],
  ['no connection', { code: 'slack_webapi_request_error' }, 'again', /No answer of Slack/],
];
for (const [name, error, kind, failure] of failures) {
  test(`after ${name}, a message is ${kind === 'again' ? 'tried again' : kind}`, () => {
    const judged = judgeSlack(error);
    assert.equal(judged.kind, kind);
    assert.match(judged.failure, failure);
  });
}
