import type { DeviceApprovalStatus } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { hasCode } from '../../api/hub-error.ts';
import { type DeviceApproval, deviceApprovalQuery } from '../../api/session-queries.ts';
import { plainText } from '../../format/text.ts';
import { formatCountdown } from '../../format/time.ts';
import { isCompleteUserCode } from '../../format/user-code.ts';
import { Facts } from '../record/facts.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { RelativeTime, useNow } from '../text/relative-time.tsx';
import { Button } from './button.tsx';
import { CodeField } from './code-field.tsx';
import { PasswordField } from './field.tsx';

interface DeviceAnswerFormProps {
  approval: DeviceApproval;
  onAnswer: (status: DeviceApprovalStatus) => void;
}

/** The request, the code to compare, and the two answers. */
export function DeviceAnswerForm({ approval, onAnswer }: DeviceAnswerFormProps) {
  const form = useAnswer(approval, onAnswer);
  const formRef = useRef<HTMLFormElement>(null);
  // People arrive with the code in mind: they can type it at once.
  useEffect(() => formRef.current?.querySelector('input')?.focus(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isCompleteUserCode(form.code)) form.setCodeError('The code must have eight letters.');
    else form.answer.mutate('approve');
  };
  return (
    <>
      <h1 className="text-xl font-semibold">Log in this machine?</h1>
      <p className="mt-1 text-sm text-muted">
        It will act on your behalf in this workspace. Approve only a login that you have just
        started yourself.
      </p>
      <div className="my-5 rounded-lg border bg-well px-4 py-3">
        <RequestFacts approval={approval} />
      </div>
      <form
        ref={formRef}
        onSubmit={submit}
        className="grid grid-cols-[minmax(0,1fr)] gap-4"
        noValidate
      >
        {form.failure !== undefined && <ErrorNotice error={form.failure} />}
        <CodeField value={form.code} onChange={form.changeCode} error={form.codeError} />
        {form.needsPassword && (
          <PasswordField
            label="Your password"
            hint="You signed in more than ten minutes ago, so please confirm your identity."
            error={form.passwordError}
            name="password"
            autoComplete="current-password"
            required
            value={form.password}
            onChange={(event) => form.setPassword(event.target.value)}
          />
        )}
        <div className="mt-1 grid grid-cols-2 gap-2">
          <Button
            className="h-10"
            busy={form.answer.isPending}
            onClick={() => form.answer.mutate('deny')}
          >
            Deny
          </Button>
          <Button type="submit" look="primary" className="h-10" busy={form.answer.isPending}>
            Approve
          </Button>
        </div>
      </form>
    </>
  );
}

function RequestFacts({ approval }: { approval: DeviceApproval }) {
  const { workspaceName, workspaceSlug } = approval;
  const expiresMs = Date.parse(approval.expiresAt);
  const left = useNow((nowMs) => formatCountdown(expiresMs - nowMs));
  return (
    <Facts
      rows={[
        [
          'Workspace',
          <span key="workspace">
            <span className="font-medium">{plainText(workspaceName ?? '')}</span>{' '}
            {workspaceName !== workspaceSlug && (
              <span className="text-muted">{plainText(workspaceSlug)}</span>
            )}
          </span>,
        ],
        ['Machine', plainText(approval.machineName ?? 'unnamed')],
        [
          'Requested from',
          <code key="ip" className="font-mono text-xs">
            {approval.requesterIp}
          </code>,
        ],
        ['Requested', <RelativeTime key="at" at={approval.requestedAt} />],
        [
          'Expires in',
          <span key="left" className="tabular-nums">
            {left}
          </span>,
        ],
      ]}
    />
  );
}

/** The form's state, and how it handles each error of the hub. */
function useAnswer(approval: DeviceApproval, onAnswer: (status: DeviceApprovalStatus) => void) {
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const [codeError, setCodeError] = useState<string>();
  const [password, setPassword] = useState('');
  const [asked, setAsked] = useState(false);
  const { deviceId } = approval;

  const answer = useMutation({
    mutationFn: (decision: 'approve' | 'deny') =>
      callHub('deviceApprovals', 'answer', {
        deviceId,
        decision,
        ...(decision === 'approve' && { userCode: code }),
        ...(decision === 'approve' && password !== '' && { password }),
      }),
    onSuccess: ({ status }) => onAnswer(status),
    onError: (error) => {
      if (hasCode(error, 'DEVICE_CODE_MISMATCH')) setCodeError(error.message);
      if (hasCode(error, 'CONFIRMATION_REQUIRED')) setAsked(true);
      if (hasCode(error, 'SIGN_IN_FAILED')) setPassword('');
      // After any other error the request may have changed: closed, expired or opened elsewhere.
      return client.invalidateQueries(deviceApprovalQuery(deviceId));
    },
  });
  const { error } = answer;
  const isFieldError = hasCode(
    error,
    'DEVICE_CODE_MISMATCH',
    'CONFIRMATION_REQUIRED',
    'SIGN_IN_FAILED',
  );
  return {
    answer,
    code,
    codeError,
    setCodeError,
    changeCode: (next: string) => {
      setCode(next);
      setCodeError(undefined);
    },
    password,
    setPassword,
    passwordError: hasCode(error, 'SIGN_IN_FAILED') ? 'The password is wrong.' : undefined,
    needsPassword: approval.needsPassword || asked,
    failure: error !== null && !isFieldError ? error : undefined,
  };
}
