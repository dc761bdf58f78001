#!/usr/bin/env node
// On Node 26. The shell finds the command by bin/signalbox.mjs, which starts on any Node.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Without it every call strips the types of the whole contract anew: twice the time to start.
const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
enableCompileCache(join(cacheHome, 'signalbox', 'compiled'));
await import('./main-line.ts');
