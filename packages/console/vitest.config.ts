import { defineConfig, mergeConfig } from 'vitest/config';
import viteConfig from './vite.config.ts';

// Apart from the build's settings: `npm start` builds the console without installing Vitest.
export default mergeConfig(
  viteConfig,
  defineConfig({ test: { include: ['test/**/*.test.{ts,tsx}'], environment: 'happy-dom' } }),
);
