import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
/** Where `npx vite console` finds a running gateway's admin port. */
const ADMIN = process.env.TWINYARD_ADMIN_URL ?? 'http://127.0.0.1:8081';

export default defineConfig({
  root: here,
  plugins: [react()],
  build: {
    outDir: join(here, '..', 'dist', 'console'),
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    // The content security policy has no place for inlined files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': { target: ADMIN } } },
});
