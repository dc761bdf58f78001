#!/usr/bin/env node
// Runs on Node 26. The shell runs bin/signalbox.mjs, which starts on any Node.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Without the cache, every call strips the types of the whole contract: twice the startup time.
const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
enableCompileCache(join(cacheHome, 'signalbox', 'compiled'));
await import('./terminal/main-line.ts');
