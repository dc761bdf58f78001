import { errorConditions } from 'virtual:contract-data';
import type { ReactNode } from 'react';
import { HubError } from '../../api/hub-error.ts';
import { plainText } from '../../format/text.ts';
import { CopyButton } from '../form/copy-button.tsx';
import { Icon } from '../page/icon.tsx';

interface ErrorParts {
  code: string;
  cause: string;
  fix: string;
  requestId: string | null;
}

const causesWithoutHub: Readonly<Record<string, string>> = {
  UNREACHABLE: 'The hub sent no answer.',
  ANSWER_UNREADABLE: 'The answer did not come from the hub.',
};

/**
 * Code, cause, fix and request ID of any failure. An error other than HubError is a console defect.
 */
function explainError(error: unknown): ErrorParts {
  if (!(error instanceof HubError)) {
    return {
      code: 'CONSOLE_FAILED',
      cause: `The console failed: ${error instanceof Error ? error.message : String(error)}`,
      fix: 'Reload the page. If the error recurs, report it with the steps that led to it.',
      requestId: null,
    };
  }
  const conditions: Readonly<Record<string, string>> = errorConditions;
  return {
    code: error.code,
    cause: conditions[error.code] ?? causesWithoutHub[error.code] ?? '',
    fix: error.message,
    requestId: error.requestId,
  };
}

/** Shows a failure next to what failed. `action` may offer a retry. */
export function ErrorNotice({ error, action }: { error: unknown; action?: ReactNode }) {
  const { code, cause, fix, requestId } = explainError(error);
  return (
    <div
      role="alert"
      className="min-w-0 rounded-lg border border-danger/40 bg-danger-soft p-3 text-sm"
    >
      <p className="flex items-center gap-2 font-medium text-danger">
        <Icon name="triangle-alert" />
        <code className="font-mono text-xs">{code}</code>
      </p>
      <p className="mt-1.5">{plainText(fix)}</p>
      {cause !== '' && !fix.startsWith(cause) && (
        <p className="mt-1 text-muted">{plainText(cause)}</p>
      )}
      {requestId && <RequestId requestId={requestId} />}
      {action && <div className="mt-3">{action}</div>}
    </div>
  );
}

function RequestId({ requestId }: { requestId: string }) {
  return (
    <p className="mt-1 flex min-w-0 items-center gap-1 text-xs text-muted">
      <span>Request</span>
      <code className="min-w-0 truncate font-mono">{requestId}</code>
      <CopyButton text={requestId} what="request ID" />
    </p>
  );
}
