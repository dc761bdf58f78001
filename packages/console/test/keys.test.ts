import { afterEach, beforeEach, expect, test } from 'vitest';
import { activeKeys, handleKey, type KeyAction, registerKeys } from '../src/keys/key-registry.ts';

const ends: (() => void)[] = [];
let done: string[] = [];

beforeEach(() => {
  done = [];
  document.addEventListener('keydown', handleKey);
});
afterEach(() => {
  document.removeEventListener('keydown', handleKey);
  for (const end of ends.splice(0)) end();
  document.body.replaceChildren();
});

function add(...keys: string[]): void {
  const actions: KeyAction[] = keys.map((each) => ({
    keys: each,
    label: each,
    group: 'Test',
    act: () => done.push(each),
  }));
  ends.push(registerKeys(actions));
}

function press(key: string, options: KeyboardEventInit & { on?: Element } = {}): KeyboardEvent {
  const { on = document.body, ...init } = options;
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init });
  on.dispatchEvent(event);
  return event;
}

test('a key acts and does nothing else; an unknown key is left to the browser', () => {
  add('j');
  expect(press('j').defaultPrevented).toBe(true);
  expect(press('q').defaultPrevented).toBe(false);
  expect(done).toEqual(['j']);
});

test('two keys in a row act once, also where the second key alone means something else', () => {
  add('g i', 'i', 'g j');
  press('g');
  press('i');
  press('i');
  press('g');
  press('x');
  press('j');
  expect(done).toEqual(['g i', 'i']);
});

test('letters are text while a person types, and combinations still act', () => {
  add('j', 'mod+k');
  const input = document.createElement('input');
  document.body.append(input);
  press('j', { on: input });
  press('k', { on: input, ctrlKey: true });
  press('j', { metaKey: true });
  press('j', { altKey: true });
  expect(done).toEqual(['mod+k']);
});

test('a dialog keeps its keys for itself', () => {
  add('j');
  const dialog = document.createElement('div');
  dialog.setAttribute('role', 'dialog');
  document.body.append(dialog);
  press('j', { on: dialog });
  expect(done).toEqual([]);
});

test('keys of a page that is left do nothing; a later page wins over an earlier one', () => {
  add('e');
  const end = registerKeys([
    { keys: 'e', label: 'later', group: 'Test', act: () => done.push('later') },
  ]);
  press('e');
  expect(activeKeys().map(({ label }) => label)).toEqual(['later']);
  end();
  press('e');
  expect(done).toEqual(['later', 'e']);
});
