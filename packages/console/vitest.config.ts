import { defineConfig, mergeConfig } from 'vitest/config';
import viteConfig from './vite.config.ts';

// Apart from the build's settings: `npm start` builds the console without installing Vitest.
// Files share a page: making one for each took three quarters of the time.
export default mergeConfig(
  viteConfig,
  defineConfig({
    test: {
      include: ['test/**/*.test.{ts,tsx}'],
      environment: 'happy-dom',
      isolate: false,
      // For slow cores that other files share.
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
  }),
);
