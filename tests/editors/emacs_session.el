;; What a person does in Emacs, as a batch. Each line of output is `name: value`; the last one says `done`.
;; EMACS_SETUP is the set-up of the README, EMACS_FILE the workflow that is opened.
(setq user-emacs-directory (file-name-as-directory (make-temp-file "emacs" t))
      package-user-dir (expand-file-name "elpa" user-emacs-directory)
      make-backup-files nil create-lockfiles nil auto-save-default nil)
(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa") ; -Q hides what Debian installed
(package-initialize)
(load (getenv "EMACS_SETUP") nil t)
(require 'eglot)
(require 'yaml-mode)
(require 'flymake)
(setq eglot-sync-connect 30 eglot-autoshutdown t eglot-confirm-server-initiated-edits nil)

(defun say (name value) (princ (format "%s: %s\n" name (replace-regexp-in-string "\n" " " (format "%s" value)))))
(defun wait-for (what check)
  (let ((end (+ (float-time) 40)) found)
    (while (not (or (setq found (funcall check)) (> (float-time) end)))
      (accept-process-output nil 0.02))
    (unless found (say "timeout" what) (kill-emacs 1))
    found))

(defvar ended nil)
(cl-defmethod eglot-handle-notification (_server (_method (eql loopLs/event)) &rest event)
  (when (member (plist-get event :kind) '("completed" "failed" "cancelled"))
    (push (format "%s %s" (plist-get event :kind) (plist-get event :reason)) ended)))
(cl-defmethod eglot-handle-notification (_server (_method (eql loopLs/run)) &rest _state) nil)

(find-file (getenv "EMACS_FILE"))
(apply #'eglot--connect (eglot--guess-contact))
(wait-for "a managed buffer" (lambda () (bound-and-true-p eglot--managed-mode)))
(flymake-start) ; in a batch no idle timer starts it
(wait-for "diagnostics" #'flymake-diagnostics)
(dolist (one (flymake-diagnostics)) (say "diagnostic" (flymake-diagnostic-text one)))

(goto-char (point-min))
(search-forward "loop.last")
(let ((told (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
  (say "hover" (substring-no-properties (eglot--hover-info (plist-get told :contents)))))

;; typed behind the last argument
(goto-char (point-min))
(search-forward "{{loop.last.output}}\"")
(insert "\n        note: \"{{lo")
(let ((found (eglot-completion-at-point)))
  (say "completion"
       (mapcar #'substring-no-properties
               (all-completions (buffer-substring (nth 0 found) (nth 1 found)) (nth 2 found)))))
(delete-region (line-beginning-position) (line-end-position))
(delete-char -1)

(goto-char (point-min))
(search-forward "name: compose")
(eglot--signal-textDocument/didChange) ; in a batch no idle timer sends it
(eglot-rename "write")
(goto-char (point-min))
(say "renamed" (if (search-forward "- name: write" nil t) "yes" "no"))
(goto-char (point-max))
(say "used" (if (search-backward "{{write}}" nil t) "yes" "no"))

(loop-ls-run)
(wait-for "the end of the run" (lambda () ended))
(say "run" (car ended))
(set-buffer-modified-p nil)
(say "done" "yes")
(kill-emacs 0)
