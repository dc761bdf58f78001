/** The step of a start, for callers that ask before the hub serves. */
export class StartStatus {
  #doing: (() => string) | null = null;
  #since = new Date();

  /** @param doing a sentence of the hub, without its full stop; called whenever somebody asks. */
  begin(doing: () => string): void {
    this.#doing = doing;
    this.#since = new Date();
  }

  get sentence(): string {
    if (this.#doing === null) return 'The hub is starting.';
    const since = this.#since.toISOString().replace(/\.\d+/, '');
    return `The hub is starting: ${this.#doing()} (since ${since}).`;
  }
}
