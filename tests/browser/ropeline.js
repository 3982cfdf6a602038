// A server of the test's own: a real process with a directory of its own.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ADMIN_KEY = "the-admin-key-of-the-browser-tests";

// One inside at a time, for a minute; nobody is stepped over while a test takes its time.
export const ONE_INSIDE = `
[rooms.main]
active_max = 1
every = "100ms"
pass_ttl = "60s"
presence_ttl = "3s"
`;

export class Ropeline {
  static async start(settings = ONE_INSIDE) {
    const server = new Ropeline();
    server.directory = await mkdtemp(join(tmpdir(), "ropeline-browser-"));
    await writeFile(join(server.directory, "ropeline.toml"), settings);
    await server.run("127.0.0.1:0");
    return server;
  }

  async run(listen) {
    const binary = process.env.ROPELINE;
    if (!binary) throw new Error("ROPELINE names no binary: start the tests with tests/browser/run");
    this.process = spawn(binary, ["--listen", listen], {
      cwd: this.directory,
      env: { PATH: process.env.PATH, ROPELINE_ADMIN_KEY: ADMIN_KEY },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    for await (const part of this.process.stdout) {
      text += part;
      const found = text.match(/listening\s+(http:\S+)/);
      if (found) {
        this.url = found[1];
        this.process.stdout.resume();
        return;
      }
    }
    throw new Error(`the server did not start: ${text}`);
  }

  // As a power cut would, and on the same address again.
  async killAndRestart() {
    await this.kill("SIGKILL");
    await this.run(new URL(this.url).host);
  }

  async kill(signal) {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill(signal);
    await ended;
  }

  async stop() {
    await this.kill("SIGKILL");
    await rm(this.directory, { recursive: true, force: true });
  }

  async call(method, path, { token, body } = {}) {
    const headers = { ...(token && { "X-Queue-Token": token }), ...(body && { "Content-Type": "application/json" }) };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const content = await answer.text();
    return { status: answer.status, ...(content && JSON.parse(content)) };
  }

  // Somebody who joins over the API; gives the place view.
  join(room = "main") {
    return this.call("POST", "/api/v1/queue/tokens", { body: { room } });
  }

  leave(token) {
    return this.call("DELETE", "/api/v1/queue/tokens", { token });
  }

  async room(name = "main") {
    return this.operate("GET", name);
  }

  // An operator's word to a room.
  async tell(word, name = "main") {
    return this.operate("POST", `${name}/${word}`);
  }

  async operate(method, path) {
    const headers = { Authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await fetch(`${this.url}/api/v1/admin/rooms/${path}`, { method, headers });
    const content = await answer.text();
    return content && JSON.parse(content);
  }
}
