// A client as the documentation of Socket.IO writes it; prints what it hears, one JSON array for each event.
const [, , modules, url, token, transport] = process.argv;
const { io } = require(`${modules}/socket.io-client`);

const say = (...words) => console.log(JSON.stringify(words));
const socket = io(url, { auth: { token }, transports: [transport], reconnection: false });
socket.on("connect", () => say("connect"));
socket.on("connect_error", (error) => say("connect_error", error.message));
socket.on("disconnect", (reason) => say("disconnect", reason));
socket.onAny((event, data) => say(event, data));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
