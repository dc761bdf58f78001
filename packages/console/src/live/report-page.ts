import { useEffect } from 'react';
import { callHub } from '../api/hub-call.ts';
import { randomKey } from '../format/random-key.ts';

/** The hub forgets a page after 45 s. */
const REPORT_MS = 20_000;
const pageId = randomKey();

interface Shown {
  workspaceId: string;
  uncertaintyId?: string;
}

/** Tells the hub while this page is visible: messages about what it shows wait a moment for it. */
export function useReportPage(workspaceId: string): void {
  useEffect(() => {
    const report = () => send({ workspaceId }, isVisible());
    const leave = () => send({ workspaceId }, false);
    report();
    const timer = setInterval(() => isVisible() && report(), REPORT_MS);
    document.addEventListener('visibilitychange', report);
    window.addEventListener('pagehide', leave);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', report);
      window.removeEventListener('pagehide', leave);
    };
  }, [workspaceId]);
}

/**
 * Tells the hub that this page shows a question, each time that it was read: the hub asks for this
 * by announcing a change of it.
 *
 * @param readAtMs when it was read; 0: not yet.
 */
export function useReportShown(workspaceId: string, uncertaintyId: string, readAtMs: number): void {
  useEffect(() => {
    if (readAtMs === 0) return;
    const report = () => isVisible() && send({ workspaceId, uncertaintyId }, true);
    report();
    document.addEventListener('visibilitychange', report);
    return () => document.removeEventListener('visibilitychange', report);
  }, [workspaceId, uncertaintyId, readAtMs]);
}

function isVisible(): boolean {
  return document.visibilityState === 'visible';
}

function send(shown: Shown, visible: boolean): void {
  // Without an answer, the hub sends its messages; the next report may reach it.
  callHub('notifications', 'reportPage', { ...shown, pageId, isVisible: visible }).catch(() => {});
}
