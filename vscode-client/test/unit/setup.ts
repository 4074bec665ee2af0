import { vi } from "vitest";

// The mocked editor of all unit tests, with what its makers left out. What is made of it does nothing and can
// be thrown away; a test that looks closer puts its own in.
vi.mock("vscode", async () => {
  const editor = (await import("jest-mock-vscode")).createVSCodeMock(vi) as unknown as Record<string, Record<string, unknown>>;
  const nothing = { dispose: () => undefined };
  const event = () => nothing;
  class Item {
    constructor(readonly id: string, public label: string, readonly uri: unknown) {}
  }
  const collection = () => new Map();
  Object.assign(editor.window ?? {}, {
    createTreeView: vi.fn(() => ({ ...nothing, visible: false, onDidChangeVisibility: event, reveal: vi.fn() })),
    createOutputChannel: vi.fn(() => ({ ...nothing, appendLine: vi.fn(), show: vi.fn() })),
    registerTreeDataProvider: vi.fn(() => nothing),
  });
  Object.assign(editor.languages ?? {}, { createLanguageStatusItem: vi.fn(() => ({ ...nothing })) });
  Object.assign(editor.workspace ?? {}, {
    registerTextDocumentContentProvider: vi.fn(() => nothing),
    createFileSystemWatcher: vi.fn(() => ({ ...nothing, onDidCreate: event, onDidDelete: event, onDidChange: event })),
  });
  return Object.assign(editor, {
    version: "1.91.0",
    env: { appName: "editor", clipboard: { writeText: vi.fn() } },
    extensions: { getExtension: vi.fn(), onDidChange: event },
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    TestRunProfileKind: { Run: 1, Debug: 2, Coverage: 3 },
    TestRunRequest: class {
      constructor(readonly include?: unknown, readonly exclude?: unknown) {}
    },
    TestMessage: class {
      location: unknown;
      constructor(readonly message: string) {}
    },
    TabInputWebview: class {
      constructor(readonly viewType: string) {}
    },
    tests: {
      createTestController: vi.fn(() => ({
        ...nothing,
        items: collection(),
        createRunProfile: vi.fn(() => nothing),
        createTestItem: (id: string, label: string, uri: unknown) => new Item(id, label, uri),
        createTestRun: vi.fn(),
      })),
    },
  });
});
