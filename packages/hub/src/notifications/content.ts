import type { notificationEvents } from '@signalbox/contract';

/** The facts of a notification, as the outbox keeps them. */
export interface NotificationContent {
  /** The title of the job; null: no job asks. */
  jobTitle: string | null;
  /** The question; null for the end of a job. */
  question: string | null;
  /** The answer that is recommended; null: none is. */
  recommended: string | null;
  /** Whether it is about an approval. */
  isApproval: boolean;
  /** Whether its asker says that little depends on it, and it is no approval and no risk. */
  isLowRisk: boolean;
  /** Whether a session of the person asks, and no job. */
  isOfSession: boolean;
  /** When the question must be answered; null: no time is set. */
  deadlineAtMs: number | null;
  /** How a job ended. */
  outcome: 'done' | 'failed' | null;
  /** Of a job that no agent can take: how many others it tells of. */
  othersWaiting?: number;
  /** Of a question of low risk: how many others it tells of. */
  othersAsked?: number;
}

/** The page at the console that a notification is about, below the home of the workspace. */
export function pathOf(
  { event, subject_id }: { event: string; subject_id: string },
  { othersAsked }: NotificationContent,
): string {
  if (othersAsked) return 'inbox';
  return `${event === 'decision' ? 'inbox' : 'jobs'}/${subject_id}`;
}

/** A message to a person: sentences of ours, and texts of others in quotation marks. */
export interface Message {
  id: string;
  event: (typeof notificationEvents)[number] | 'test';
  title: string;
  text: string;
  /** The answer that is recommended, in quotation marks; null: none is, or none is to be shown. */
  answer: string | null;
  /** The page at the console. */
  url: string;
  /** The page at the console where the person chooses how to be told. */
  settingsUrl: string;
  /** When it was caused. */
  atMs: number;
  /** Whether it takes the place of the message with this id: it makes no sound. */
  replaces?: boolean;
}

const QUOTED_CHARS_MAX = 240;
const TITLE_CHARS_MAX = 80;
/** As much as a button of a notification shows. */
const ANSWER_CHARS_MAX = 30;

/**
 * @param showsText whether the person wants texts in messages, which locked screens show.
 */
export function sentencesOf(
  content: NotificationContent,
  showsText: boolean,
): Pick<Message, 'title' | 'text' | 'answer'> {
  const { jobTitle, question, recommended, outcome, othersWaiting, isOfSession } = content;
  const job = jobTitle === null || !showsText ? null : quote(jobTitle, TITLE_CHARS_MAX);
  if (outcome !== null) {
    const title = outcome === 'done' ? 'A job is done' : 'A job has failed';
    return { title, text: job ?? 'Open it to see the result.', answer: null };
  }
  if (othersWaiting !== undefined) {
    const title =
      othersWaiting === 0
        ? 'A job waits for an agent'
        : `${othersWaiting + 1} jobs wait for agents`;
    const text = job === null ? 'No agent can take it.' : `${job}: no agent can take it.`;
    return { title, text: `${text} Open it to see why.`, answer: null };
  }
  if (content.othersAsked) return sentencesOfSeveral(question, content.othersAsked, showsText);
  const title = isOfSession ? 'Your session asks you' : 'A job asks you';
  if (question === null || !showsText) {
    return { title, text: 'Open it to see the question.', answer: null };
  }
  const asked = quote(question, QUOTED_CHARS_MAX);
  const answer = recommended === null ? null : quote(recommended, ANSWER_CHARS_MAX);
  return { title, text: job === null ? asked : `${job}: ${asked}`, answer };
}

function sentencesOfSeveral(
  question: string | null,
  others: number,
  showsText: boolean,
): Pick<Message, 'title' | 'text' | 'answer'> {
  const more = others === 1 ? 'another' : `${others} others`;
  const asked = question === null || !showsText ? null : quote(question, QUOTED_CHARS_MAX);
  const text = asked === null ? 'Open the inbox to see them.' : `${asked} and ${more}.`;
  return { title: `${others + 1} questions of low risk wait`, text, answer: null };
}

/**
 * Text that an agent or its tool may have written is hostile: one line, short, in quotation marks,
 * and no program makes a link of it.
 */
export function quote(text: string, charsMax: number): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[a-z][a-z\d+.-]*:\S+|\bwww\.\S+|\S+\.\w{2,}\/\S*/gi, '[link]')
    .trim();
  const chars = [...line];
  const cut = chars.length > charsMax ? `${chars.slice(0, charsMax - 1).join('')}…` : line;
  return `“${cut}”`;
}
