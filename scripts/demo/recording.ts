// The moving picture of the README: the demo of a question, left the terminal, right the phone.
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import type { encode } from 'modern-gif';
import type { Browser, Locator, Page } from 'playwright-core';

/** A moment of the demo. */
interface Shot {
  text: string;
  /** A PNG as an address; empty before the phone is there. */
  phone: string;
  atMs: number;
  isTouch: boolean;
}

interface Frames {
  width: number;
  height: number;
  /** PNGs as addresses, and for how long each is shown, in milliseconds. */
  frames: { address: string; delay: number }[];
}

const size = { width: 900, height: 664 };
const COLUMNS = 60;
const LINES = 35;
/** Waiting is shortened: the picture is about what happens, and the terminal tells the times. */
const SHOWN_MS_MIN = 150;
const SHOWN_MS_MAX = 700;
const TOUCH_SHOWN_MS = 1_000;
const END_SHOWN_MS = 4_000;
/** Lines that come this soon after each other are one moment. */
const MOMENT_MS = 60;

const stage = `<style>
  body { margin: 0; height: ${size.height}px; background: #fff; display: flex; gap: 16px;
    box-sizing: border-box; padding: 12px; font: 13px/18px 'DejaVu Sans Mono', monospace }
  pre { margin: 0; padding: 8px 12px; flex: 1; border: 1px solid #d6d3d1; border-radius: 8px;
    font: inherit; color: #292524; background: #fafaf9; overflow: hidden }
  .figure { width: 360px; height: 640px; box-sizing: border-box; background: #e7e5e4;
    outline: 1px solid #78716c; border-radius: 8px; overflow: hidden; position: relative }
  .done { color: #15803d } .step { color: #0e7490 } .kill { color: #b91c1c } b { color: #000 }
</style><pre></pre><div class="figure"></div>`;

/** Takes part in the demo as its terminal, and sees its phone. */
export function createRecording() {
  const shots: Shot[] = [];
  let [text, phone] = ['', ''];
  const take = (isTouch: boolean) => shots.push({ text, phone, isTouch, atMs: performance.now() });
  return {
    out: {
      columns: COLUMNS,
      write(part: string) {
        text += stripVTControlCharacters(part);
        take(false);
      },
    },
    async onPhone(page: Page, target: Locator | null) {
      await target?.scrollIntoViewIfNeeded();
      const box = await target?.boundingBox();
      const picture = (await page.screenshot({ animations: 'disabled' })).toString('base64');
      phone = `<img src="data:image/png;base64,${picture}" width="360">`;
      if (box) {
        const [left, top] = [box.x + box.width / 2 - 16, box.y + box.height / 2 - 16];
        const place = `position:absolute;left:${left}px;top:${top}px;width:32px;height:32px`;
        phone += `<div style="${place};border-radius:50%;background:#0e749088"></div>`;
      }
      take(true);
    },
    /** Draws all shots. Returns a GIF. */
    async draw(browser: Browser): Promise<Buffer> {
      const page = await browser.newPage({ viewport: size });
      await page.setContent(stage);
      const moments = shots.filter((shot, at) => {
        const next = shots[at + 1];
        return shot.isTouch || next === undefined || next.atMs - shot.atMs > MOMENT_MS;
      });
      const frames: Frames['frames'] = [];
      for (const [at, shot] of moments.entries()) {
        const lines = shot.text.trimEnd().split('\n').slice(-LINES);
        await page.evaluate(show, [lines.map(styled).join('\n'), shot.phone] as const);
        const picture = (await page.screenshot()).toString('base64');
        frames.push({ address: `data:image/png;base64,${picture}`, delay: delayOf(moments, at) });
      }
      await page.addScriptTag({ path: createRequire(import.meta.url).resolve(scriptName) });
      return Buffer.from(await page.evaluate(encodeFrames, { ...size, frames }), 'base64');
    },
  };
}

/** Brings its own browser globals; the module for Node has no images. */
const scriptName = 'modern-gif/dist/index.js';

function delayOf(moments: readonly Shot[], at: number): number {
  const [shot, next] = [moments[at], moments[at + 1]];
  if (shot === undefined || next === undefined) return END_SHOWN_MS;
  if (shot.isTouch) return TOUCH_SHOWN_MS;
  return Math.min(SHOWN_MS_MAX, Math.max(SHOWN_MS_MIN, next.atMs - shot.atMs));
}

function styled(line: string): string {
  const text = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  if (line.startsWith('✔')) return `<span class="done">✔</span>${text.slice(1)}`;
  if (line.startsWith('▸')) return `<span class="step">▸</span>${text.slice(1)}`;
  if (line.startsWith('  kill')) return `<span class="kill">${text}</span>`;
  return /^[SW]/.test(line) ? `<b>${text}</b>` : text;
}

/* The parts of a browser that the functions below touch in the page. */
declare const document: { querySelector(selector: string): { innerHTML: string } };
declare const modernGif: { encode: typeof encode };
declare const Image: new () => Uint8Array & { src: string; decode(): Promise<void> };
declare const btoa: (text: string) => string;

function show([text, phone]: readonly [string, string]): void {
  document.querySelector('pre').innerHTML = text;
  document.querySelector('.figure').innerHTML = phone;
}

async function encodeFrames({ width, height, frames }: Frames): Promise<string> {
  const loaded = frames.map(async ({ address, delay }) => {
    // The encoder takes an image for its pixels; types of a browser are not part of this project.
    const data = new Image();
    data.src = address;
    await data.decode();
    return { data, delay };
  });
  const drawn = await Promise.all(loaded);
  const picture = await modernGif.encode({ width, height, frames: drawn });
  return btoa(Array.from(new Uint8Array(picture), (byte) => String.fromCharCode(byte)).join(''));
}
