/** Words for the actions of the audit log, after the name of a person and before a record's ID. */
const actionWords: Readonly<Record<string, string>> = {
  'agent.drain': 'asked an agent to finish its jobs and take no more',
  'agent.end-leases': 'took the jobs of an agent',
  'agent.resume': 'gave an agent jobs again',
  'agent.stop': 'stopped an agent',
  'audit.export': 'downloaded the audit log',
  'chat-team.add': 'connected a chat team',
  'chat-team.claim': 'claimed a chat team',
  'chat-team.remove': 'disconnected a chat team',
  'chat-team.rename': 'renamed a chat team',
  'context-item.remove': 'removed an item of the context',
  'device.approve': 'approved the login of a machine',
  'device.deny': 'denied the login of a machine',
  'first-owner.create': 'created the first owner',
  'hub.restore': 'restored the hub',
  'integration-event.replay': 'replayed an event',
  'integration-secret.mint': 'created a secret for events',
  'integration-secret.revoke': 'revoked a secret for events',
  'invitation.accept': 'accepted an invitation',
  'invitation.create': 'invited a person',
  'invitation.revoke': 'revoked an invitation',
  'job-template.remove': 'removed a template of jobs',
  'job-template.save': 'saved a template of jobs',
  'job.cancel': 'canceled a job',
  'job.release': 'took a job from its agent',
  'job.request-patch': 'asked an agent for the changes of a job',
  'job.retry': 'retried a job',
  'mail-account.create': 'connected a mail account',
  'mail-account.remove': 'disconnected a mail account',
  'mail-account.update': 'changed a mail account',
  'member.change-role': 'changed the role of a member',
  'member.leave': 'left the workspace',
  'member.remove': 'removed a member',
  'notification-channel.add': 'added a channel for notifications',
  'notification-channel.remove': 'removed a channel for notifications',
  'notification-channel.update': 'changed a channel for notifications',
  'password-reset.create': 'created a link for a new password',
  'password-reset.use': 'set a new password by a link',
  'person.change-password': 'changed their password',
  'person.rename': 'changed their name',
  'person.set-quiet-hours': 'changed their quiet hours',
  'queue.pause': 'paused the queue',
  'queue.resume': 'resumed the queue',
  'repository.update': 'changed a repository',
  'session.sign-in': 'signed in',
  'session.sign-in-failed': 'failed to sign in',
  'sign-in-link.create': 'created a link that signs in',
  'token.mint': 'created a token',
  'token.revoke': 'revoked a token',
  'trigger.create': 'created a trigger',
  'trigger.delete': 'deleted a trigger',
  'trigger.disable': 'disabled a trigger',
  'trigger.enable': 'enabled a trigger',
  'trigger.update': 'changed a trigger',
  'uncertainty.promote': 'asked people a question that was assumed',
  'uncertainty.resolve': 'answered or dismissed a question',
  'uncertainty.withdraw': 'took back an answer',
  'upload.delete': 'deleted an upload',
  'work.approve': 'approved a piece of work',
  'work.closed': 'closed a piece of work',
  'work.land': 'began the landing of a piece of work',
  'work.landed': 'landed a piece of work',
  'work.override': 'approved a piece of work that lacked something',
  'workspace.create': 'created the workspace',
  'workspace.update': 'changed the settings of the workspace',
};

/** The words of an action; its code, if this console does not know it. */
export function auditWords(action: string): string {
  return actionWords[action] ?? action;
}

/** The actions to choose from, by their words; a code of the address that is unknown is kept. */
export function auditActions(current: string | undefined): { value: string; word: string }[] {
  const codes = new Set([...Object.keys(actionWords), ...(current === undefined ? [] : [current])]);
  const options = [...codes].map((value) => ({ value, word: auditWords(value) }));
  return options.toSorted((a, b) => a.word.localeCompare(b.word));
}
