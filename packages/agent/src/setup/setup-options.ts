/**
 * Prepares a new worktree before the tool begins. All of it is the choice of the person who runs
 * the agent, or of the repository where that person allows it. Paths are relative to the
 * repository, without `.` and `..`.
 */
export interface SetupOptions extends SetupSteps {
  /** Files and folders of the clone that git does not track, such as `.env`. */
  copy?: readonly string[];
  /** The same, as symbolic links into the clone. */
  link?: readonly string[];
  /**
   * Reads the steps that a commit of the repository has in `SETUP_FILE`, in place of those that are
   * absent here.
   *
   * @throws {SetupFileError}
   */
  readSteps?: (text: string) => SetupSteps;
}

/** The steps that a repository may have in its commits. None of them names a file of the clone. */
export interface SetupSteps {
  /** Run in order. Those that keep nothing are run again by each attempt in the worktree. */
  run?: readonly SetupCommand[];
  /** How many free ports a job gets: `SIGNALBOX_PORT_1` and so on. */
  ports?: number;
  /** Gives each attempt a name of its own for a database: `SIGNALBOX_DATABASE`. */
  database?: boolean;
  /** Lines for `/bin/sh`, run in the worktree when an attempt ends, however it ends. */
  teardown?: readonly string[];
}

export interface SetupCommand {
  /** A line for `/bin/sh`, run in the worktree as the tool's user. */
  command: string;
  /** Files of the commit that decide what the command makes, such as `package-lock.json`. */
  key?: readonly string[];
  /**
   * Folders that the command fills, such as `node_modules`. They are kept, and copied in place of
   * running it where the key is the same.
   */
  keep?: readonly string[];
}

/** In the commits of a repository. */
export const SETUP_FILE = '.signalbox/setup.json';

export const SETUP_PATHS_MAX = 100;
export const SETUP_COMMANDS_MAX = 20;
export const SETUP_PORTS_MAX = 20;

/** Whether a path may name a file or a folder of a repository. */
export function isSetupPath(path: string): boolean {
  const parts = path.split('/');
  const isPlain = (part: string) =>
    part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git';
  return parts.every(isPlain) && !/\p{Cc}|\\/u.test(path) && path.trim() === path;
}
