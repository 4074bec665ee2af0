;; The server is killed under Emacs: eglot starts it again, and what was known of the file is there again.
(load (expand-file-name "emacs_common.el" (file-name-directory load-file-name)) nil t)
(setq eglot-autoreconnect t)            ; also after the first seconds

(find-file (getenv "EMACS_FILE"))
(connect)
(loop-ls-run)
(wait-for "the end of the run" (lambda () ended))
(let ((before (eglot-current-server)))
  (signal-process (jsonrpc--process before) 'SIGKILL)
  (wait-for "another server" (lambda () (and (eglot-current-server) (not (eq before (eglot-current-server)))))))
(wait-for "a managed buffer" (lambda () (bound-and-true-p eglot--managed-mode)))
(goto-char (point-min))
(search-forward "name: haiku")
(wait-for "the run" (lambda () (seq-find (lambda (one) (equal "Open run" (plist-get one :title)))
                                         (eglot-code-actions (point)))))
(say "again" (mapcar (lambda (one) (plist-get one :title)) (eglot-code-actions (point))))
(say "done" "yes")
(kill-emacs 0)
