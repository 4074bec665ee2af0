// The YAML extension as far as ours meets it: the same id, the same server for the same files, the schemas that
// extensions contribute, and an API of the same shape.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

interface Contribution {
  fileMatch: string | string[];
  url: string;
}

let client: LanguageClient | undefined;

export async function activate(): Promise<object> {
  const [command, ...args] = vscode.workspace.getConfiguration("yaml").get<string[]>("server", []);
  if (!command) throw new Error("yaml.server names no program");
  client = new LanguageClient(
    "yaml",
    "YAML Support",
    { command, args },
    {
      documentSelector: [{ language: "yaml" }, { pattern: "*.y(a)ml" }],
      synchronize: { fileEvents: [vscode.workspace.createFileSystemWatcher("**/*.?(e)y?(a)ml"), vscode.workspace.createFileSystemWatcher("**/*.json")] },
    },
  );
  const contributors = new Map<string, (resource: string) => string>();
  client.onRequest("custom/schema/request", (resource: string) => [...contributors.values()].map((each) => each(resource)).filter(Boolean));
  await client.start();
  await client.sendNotification("json/schemaAssociations", associations());
  await client.sendNotification("yaml/registerCustomSchemaRequest");
  return {
    registerContributor: (name: string, requestSchema: (resource: string) => string) => !contributors.has(name) && contributors.set(name, requestSchema) && true,
  };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function associations(): { uri: string; fileMatch: string[] }[] {
  return vscode.extensions.all.flatMap((extension) => {
    const contributed = (extension.packageJSON.contributes?.yamlValidation ?? []) as Contribution[];
    return contributed.map(({ fileMatch, url }) => {
      const uri = url.startsWith("./") ? vscode.Uri.joinPath(extension.extensionUri, url).toString() : url;
      const patterns = Array.isArray(fileMatch) ? fileMatch : [fileMatch];
      return { uri, fileMatch: patterns.map((pattern) => (/^(\w+:\/\/|\/|!)/.test(pattern) ? pattern : `/${pattern}`)) };
    });
  });
}
