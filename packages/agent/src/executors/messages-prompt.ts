import type { KnownMessage } from './conversation.ts';

/** The line by which a session shows that it has a message. */
export function messageMark(jobId: string, number: number): string {
  return `Message ${number} to ${jobId}:`;
}

/** The prompt that gives messages of people to the tool. */
export function messagesPrompt(jobId: string, messages: readonly KnownMessage[]): string {
  const texts = messages.map(({ number, text, isDoubtful }) => {
    const hint = '(You may have it already. Then do not act on it again.)';
    const lines = isDoubtful ? [messageMark(jobId, number), hint] : [messageMark(jobId, number)];
    return `${lines.join('\n')}\n\n${text.trimEnd()}`;
  });
  const what = 'Signalbox: people have sent these messages to your job. They add to your task.';
  return `${[what, ...texts].join('\n\n')}\n`;
}
