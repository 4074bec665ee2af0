import { vi } from "vitest";

vi.mock("vscode", async () => (await import("jest-mock-vscode")).createVSCodeMock(vi));
