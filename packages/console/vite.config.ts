import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { bundleBudget } from './bundle-budget-plugin.ts';
import { contractData } from './contract-data-plugin.ts';
import { badgedFavicons } from './favicon-plugin.ts';

/** The hub that `npm run dev` starts beside the development server. */
const hubUrl = process.env.SIGNALBOX_DEV_HUB ?? 'http://127.0.0.1:4400';

export default defineConfig({
  base: '/',
  plugins: [contractData(), react(), tailwindcss(), badgedFavicons(), bundleBudget()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The policy forbids data: fonts and scripts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The pages that people open first are one file with all that they import. As files of their
    // own they were thirty, and over a slow network each level of imports costs a round trip.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'first-view', test: /src[\\/]pages[\\/](?:shell|jobs|inbox)\.tsx$/ }],
        },
      },
    },
    // Keep light-dark() and relative colours; older engines are not supported.
    cssTarget: ['chrome123', 'firefox128', 'safari17.5'],
  },
  // changeOrigin stays off: the hub compares Origin with the host that the browser requested.
  server: { proxy: { '/console-api': { target: hubUrl } } },
});
