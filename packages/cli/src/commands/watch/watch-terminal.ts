import { emitKeypressEvents } from 'node:readline';
import type { Control, Io } from '../../terminal/io.ts';
import type { ScreenSize } from './watch-screen.ts';
import type { Key } from './watch-state.ts';

/** The whole terminal, until `end` gives it back as it was. */
export interface Terminal {
  size(): ScreenSize;
  /** Shows a screen; lines that are as before are not written again. */
  paint(lines: readonly string[]): void;
  end(): void;
}

const csi = (sequence: string): Control => ({ sequence: `\u001b[${sequence}` });
/** The alternate screen, without a cursor (xterm, ctlseqs). */
const enter = [csi('?1049h'), csi('?25l')];
const leave = [csi('?25h'), csi('?1049l')];
/** A terminal that knows synchronized output shows all lines at once. */
const [beginUpdate, endUpdate] = [csi('?2026h'), csi('?2026l')];
const eraseRest = csi('K');

export function openTerminal(
  { stdin, stdout, draw }: Io,
  on: { key(key: Key): void; resize(): void },
): Terminal {
  let shown: readonly string[] = [];
  const onKeypress = (text: string | undefined, key: { name?: string; ctrl?: boolean }) =>
    on.key({ name: key.name ?? '', text: text ?? '', isCtrl: key.ctrl === true });
  const onResize = () => {
    shown = [];
    draw([csi('2J')]);
    on.resize();
  };
  const restore = () => draw(leave);
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', onKeypress);
  stdin.resume();
  stdout.on('resize', onResize);
  // Also where the process ends by a second signal.
  process.once('exit', restore);
  draw(enter);
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    paint(lines) {
      const changed = lines.flatMap((line, index) =>
        line === shown[index] ? [] : [csi(`${index + 1};1H`), line, eraseRest],
      );
      shown = lines;
      if (changed.length > 0) draw([beginUpdate, ...changed, endUpdate]);
    },
    end() {
      process.off('exit', restore);
      stdout.off('resize', onResize);
      stdin.off('keypress', onKeypress);
      stdin.setRawMode(false);
      stdin.pause();
      restore();
    },
  };
}
