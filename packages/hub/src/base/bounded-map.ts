/** A cache that drops its oldest entries when it is full. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Sets an entry and makes it the newest. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    // A Map keeps insertion order, so the first key is the oldest.
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#entriesMax) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, value);
  }
}
