import { availableParallelism } from 'node:os';
import type { TestEngine } from './engines.ts';
import type { FileReport } from './file-log.ts';
import { TestProcess } from './test-process.ts';

/** A file to run, once. */
export interface FileRun {
  readonly file: string;
  /** The database, for a file that depends on it. */
  readonly engine?: TestEngine | undefined;
  readonly limitMs: number;
  /** May run in a process that runs other files as well. */
  readonly isShared: boolean;
  /** The module that its process loads first. */
  readonly place?: string | undefined;
}

/** Files that run one after the other, in the same process as long as none fails. */
export type FileChain = readonly FileRun[];

/** The run of another test runner. */
export type ForeignRun = () => Promise<FileReport>;

/** The files to run, in order. */
export interface Queues {
  computing: QueuedRun[];
  waiting: QueuedRun[];
}
type QueuedRun = FileRun | FileChain | ForeignRun;

/**
 * Loading the hub, and running code that is not compiled yet, costs a new process the processor
 * time of two or three files. With fewer files left for each, another process costs more than it
 * helps.
 */
const filesOfProcessMin = 10;

/**
 * Runs the files in order, several at once. Half of the lanes run computing files and half waiting
 * ones, so that the processors are busy and not overloaded; a lane whose queue is empty helps the
 * others. Few files that share processes use no more of these than there are processors.
 */
export async function runInLanes(
  root: string,
  { computing, waiting }: Queues,
  laneCount: number,
  add: (report: FileReport) => void,
): Promise<void> {
  const queues = { computing: [...computing], waiting: [...waiting] };
  let processes = 0;
  const lanes = Array.from({ length: laneCount }, async (_, number) => {
    const lane = new Lane(root, add);
    let hasProcess = false;
    const take = (queue: QueuedRun[]) => {
      const [first] = queue;
      if (first !== undefined && 'isShared' in first && first.isShared && !hasProcess) {
        if (!isWorthProcess(processes, queue.length)) return undefined;
        hasProcess = true;
        processes += 1;
      }
      return queue.shift();
    };
    const [own, other] =
      number % 2 === 0 ? [queues.computing, queues.waiting] : [queues.waiting, queues.computing];
    const next = () => take(own) ?? take(other);
    for (let run = next(); run !== undefined; run = next()) await lane.run(run);
    await lane.end();
  });
  await Promise.all(lanes);
}

/** A lane that has a process keeps it to the end of its queue, so that no file is left over. */
function isWorthProcess(running: number, filesLeft: number): boolean {
  return running < availableParallelism() || filesLeft >= (running + 1) * filesOfProcessMin;
}

/** Runs files one after the other, and keeps a process for those that share one. */
class Lane {
  readonly #root: string;
  readonly #add: (report: FileReport) => void;
  #shared: TestProcess | undefined;

  constructor(root: string, add: (report: FileReport) => void) {
    this.#root = root;
    this.#add = add;
  }

  async run(run: QueuedRun): Promise<void> {
    if (typeof run === 'function') {
      this.#add(await run());
      return;
    }
    if (!('file' in run)) {
      const own = new Lane(this.#root, this.#add);
      for (const each of run) await own.run({ ...each, isShared: true });
      await own.end();
      return;
    }
    if (!run.isShared) {
      const own = this.#start(run);
      await this.#runIn(own, run);
      await this.#end(own, run.file);
      return;
    }
    // A file without an engine runs beside files of any.
    const isOther = run.engine !== undefined && run.engine !== this.#shared?.engine;
    if (isOther || this.#shared?.isUsable === false) await this.end();
    this.#shared ??= this.#start(run);
    await this.#runIn(this.#shared, run);
  }

  async end(): Promise<void> {
    const shared = this.#shared;
    this.#shared = undefined;
    if (shared !== undefined) await this.#end(shared, '(a process of several files)');
  }

  #start({ engine, place }: FileRun): TestProcess {
    return new TestProcess(this.#root, engine, { place });
  }

  async #runIn(process: TestProcess, { file, engine, limitMs }: FileRun): Promise<void> {
    this.#add({ ...(await process.run(file, limitMs)), engine });
  }

  async #end(process: TestProcess, file: string): Promise<void> {
    const failure = await process.end();
    if (failure === '') return;
    const name = 'the process of the tests ends well';
    const results = [{ name, outcome: 'failed', detail: failure } as const];
    this.#add({ file, engine: process.engine, results, durationMs: 0, output: '' });
  }
}
