import { rename } from 'node:fs/promises';

/** Null: there is no such file or folder. */
export async function unlessMissing<Result>(action: Promise<Result>): Promise<Result | null> {
  try {
    return await action;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** @returns whether there was something to rename. */
export async function renameIfThere(from: string, to: string): Promise<boolean> {
  return (await unlessMissing(rename(from, to).then(() => true))) ?? false;
}
