/**
 * Every error code of the wire with its HTTP status and its condition. A failure is
 * `{ok: false, error: CODE, message, requestId, details?}`. Codes are added, never renamed.
 * Refusals by the domain are HTTP 400 with their own code, because the specification has only 200,
 * 400, 401 and 500; the other statuses are plain HTTP.
 */
export const errorCodes = {
  TOKEN_MISSING: [401, 'The request has no bearer token.'],
  TOKEN_INVALID: [401, 'The bearer token is malformed or unknown.'],
  TOKEN_EXPIRED: [401, 'The bearer token has expired, or the lease of its job has ended.'],
  TOKEN_REVOKED: [401, 'The bearer token has been revoked.'],
  INTEGRATION_UNAUTHORIZED: [
    401,
    'The shared secret or signature is missing or wrong, or the hub has none set.',
  ],
  SIGNED_URL_INVALID: [401, 'The signed URL was altered or has expired; request a new one.'],
  SESSION_REQUIRED: [401, 'No person is signed in; sign in at the console.'],
  SIGN_IN_FAILED: [401, 'The e-mail address or the password is wrong.'],
  INVALID_JSON: [
    400,
    'The body is not JSON in UTF-8, is nested deeper than 32 levels, or has a duplicate or ' +
      'forbidden key.',
  ],
  INVALID_REQUEST: [400, 'A field is missing or has a value outside its schema; see details.'],
  WORKSPACE_NOT_FOUND: [400, 'No such workspace, or the token may not use it.'],
  REPO_NOT_FOUND: [400, 'No such repository in this workspace.'],
  RUN_NOT_FOUND: [400, 'No such run in this workspace.'],
  JOB_NOT_FOUND: [400, 'No such job in this workspace.'],
  AGENT_NOT_FOUND: [400, 'No such agent in this workspace, or it belongs to another principal.'],
  AGENT_STOPPING: [
    400,
    'The agent is stopping or has stopped; start it on its machine, then send the command.',
  ],
  COMMENT_NOT_FOUND: [400, 'No such review comment in this workspace.'],
  UNCERTAINTY_NOT_FOUND: [400, 'No such uncertainty in this workspace.'],
  UPLOAD_NOT_FOUND: [400, 'No such upload in this workspace, or its bytes have not arrived.'],
  UPLOAD_MISMATCH: [
    400,
    'The bytes differ from the announced size or hash, or from those already stored.',
  ],
  UPLOAD_BYTES_MISSING: [
    400,
    'The bytes of the upload are missing in the store of the hub; its operator has to restore them.',
  ],
  CLOUD_AI_JOB_NOT_FOUND: [400, 'No such cloud AI job in this workspace.'],
  CONTEXT_ITEM_NOT_FOUND: [400, 'No such context item in this workspace.'],
  CONTEXT_PACK_NOT_FOUND: [400, 'No such context pack for this run.'],
  TRIGGER_NOT_FOUND: [400, 'No such trigger in this workspace.'],
  EVENT_NOT_FOUND: [400, 'No such integration event in this workspace.'],
  DEVICE_SESSION_NOT_FOUND: [400, 'No such device session, or its secret is wrong.'],
  DEVICE_CODE_MISMATCH: [400, 'The code does not match the one shown in the terminal.'],
  DEVICE_OPENED_ELSEWHERE: [
    400,
    'Another console session opened this device session; only that one may answer it.',
  ],
  DEVICE_SESSION_CLOSED: [400, 'The device session was already answered or has expired.'],
  CONFIRMATION_REQUIRED: [400, 'The sign-in is older than 10 minutes; send the password again.'],
  LOGIN_TOO_OLD: [
    400,
    'The machine logged in more than an hour ago; log in again, then repeat the call.',
  ],
  FIRST_OWNER_LINK_INVALID: [400, 'The first-owner link was used or is not the latest one.'],
  SLUG_TAKEN: [400, 'A workspace with this slug already exists.'],
  EMAIL_TAKEN: [400, 'An account with this e-mail address exists: sign in with it.'],
  MEMBER_NOT_FOUND: [400, 'No such member of this workspace.'],
  ALREADY_MEMBER: [400, 'The person is already a member of this workspace.'],
  LAST_OWNER: [400, 'A workspace must keep an owner; make someone else an owner first.'],
  INVITATION_NOT_FOUND: [400, 'No such open invitation to this workspace.'],
  INVITATION_LINK_INVALID: [
    400,
    'The invitation link was used, revoked or replaced, or has expired; ask for a new link.',
  ],
  PASSWORD_RESET_LINK_INVALID: [
    400,
    'The password-reset link was used or replaced, or has expired; ask for a new one.',
  ],
  SIGN_IN_LINK_INVALID: [
    400,
    'The sign-in link was used or has expired; run `signalbox up` again for a new one.',
  ],
  MAIL_ACCOUNT_NOT_FOUND: [400, 'No such mail account in this workspace.'],
  RULE_NOT_FOUND: [400, 'There is no such rule in this workspace.'],
  NOTIFICATION_NOT_FOUND: [400, 'No such notification of this channel, or it is too old.'],
  CHANNEL_NOT_FOUND: [400, 'You have no such channel in this workspace.'],
  TOKEN_NOT_FOUND: [400, 'No such active token in this workspace, or it belongs to someone else.'],
  LEASE_LOST: [400, 'The agent no longer holds the lease of this job.'],
  CLAIM_GENERATION_MISMATCH: [400, 'The claim generation sent is not the current one.'],
  JOB_NOT_RUNNING: [400, 'The job is not running, so the call does not apply.'],
  JOB_ALREADY_FINISHED: [400, 'The job has finished; finished jobs do not change.'],
  JOB_CANCELED: [400, 'The job was canceled.'],
  ALREADY_RESOLVED: [400, 'The uncertainty has a resolution; send supersede to replace it.'],
  LIMIT_REACHED: [
    400,
    'A limit of the hub, workspace, repository, run or job is reached; see the message.',
  ],
  IDEMPOTENCY_CONFLICT: [400, 'The idempotency key was used with a different body.'],
  NOT_ALLOWED: [400, 'The token or role may not do this.'],
  NOT_FOUND: [404, 'Unknown path.'],
  METHOD_NOT_ALLOWED: [405, 'The path exists with another method; see the Allow header.'],
  BODY_TOO_LARGE: [413, 'The body is larger than 256 KB (262,144 bytes).'],
  RANGE_NOT_SATISFIABLE: [416, 'The range lies outside the bytes; see the Content-Range header.'],
  RATE_LIMITED: [429, 'Too many requests; retry after Retry-After.'],
  INTERNAL: [500, 'The hub failed; look up the request id in its log for the cause.'],
  UNAVAILABLE: [
    503,
    'The hub is stopping or its database is unavailable; retry after Retry-After.',
  ],
} as const satisfies Record<string, readonly [status: number, condition: string]>;

export type ErrorCode = keyof typeof errorCodes;

/** HTTP status of a code. */
export function statusOf(code: ErrorCode): number {
  return errorCodes[code][0];
}

/** The condition for a code, as one sentence. It is the default message of the failure. */
export function conditionOf(code: ErrorCode): string {
  return errorCodes[code][1];
}

/** One entry of `details` in an `INVALID_REQUEST` failure. `path` is a JSON pointer. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** The body of every failure. */
export interface ErrorBody {
  ok: false;
  error: ErrorCode;
  message: string;
  requestId: string;
  details?: ErrorDetail[];
}
