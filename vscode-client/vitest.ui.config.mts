import { defineConfig } from "vitest/config";

// Real windows: one after the other, each with time to load.
export default defineConfig({
  test: {
    include: ["test/exthost/**/*.test.ts", "test/ui/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
